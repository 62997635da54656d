package tasks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// taskLine is one line of a task file with its problems.
type taskLine struct {
	number   int
	fields   map[string]json.RawMessage
	used     map[string]bool // the fields that were read into the task
	problems []problem
}

// newTaskLine returns a line with these fields, all unused.
func newTaskLine(number int, fields map[string]json.RawMessage) *taskLine {
	return &taskLine{number: number, fields: fields, used: map[string]bool{}}
}

// unused returns the names of non-empty fields that were not read.
func (l *taskLine) unused() []string {
	var names []string
	for name := range l.fields {
		if l.has(name) && !l.used[name] {
			names = append(names, name)
		}
	}
	return names
}

// parseObject reads a JSON object into its fields, with names exactly as written. It describes
// the problem of a text that is not an object or has a field twice.
func parseObject(raw []byte) (fields map[string]json.RawMessage, wrong string) {
	switch {
	case bytes.HasPrefix(raw, []byte("PAR1")):
		return nil, "this is a Parquet file; write it as JSONL first"
	case bytes.HasPrefix(raw, []byte("[")):
		return nil, "is a JSON array; JSONL has one object per line"
	case !utf8.Valid(raw):
		return nil, "is not UTF-8"
	}
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		return nil, "is not JSON: " + err.Error()
	}
	if raw[0] != '{' {
		return nil, "is not a JSON object"
	}
	fields = map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil { // the brace
		return nil, "is not JSON: " + err.Error()
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, "is not JSON: " + err.Error()
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, "is not JSON: " + err.Error()
		}
		key := name.(string) // a member's name is a string
		if _, twice := fields[key]; twice {
			return nil, fmt.Sprintf("has the field %q twice", key)
		}
		fields[key] = value
	}
	return fields, ""
}

func (l *taskLine) refuse(field, format string, args ...any) {
	l.problems = append(l.problems, problem{l.number, field, fmt.Sprintf(format, args...)})
}

// has reports whether a field is present and not null.
func (l *taskLine) has(field string) bool {
	raw, ok := l.fields[field]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// text reads an optional string; absence and null are "".
func (l *taskLine) text(field string) string {
	l.used[field] = true
	if !l.has(field) {
		return ""
	}
	if l.fields[field][0] != '"' {
		l.refuse(field, "is not a string")
		return ""
	}
	return l.unquote(field, l.fields[field])
}

// need reads a string that must not be empty.
func (l *taskLine) need(field string) string {
	before := len(l.problems)
	s := l.text(field)
	if strings.TrimSpace(s) == "" && len(l.problems) == before {
		l.refuse(field, "is missing or empty")
	}
	return s
}

// unquote reads a JSON string of a field.
func (l *taskLine) unquote(field string, raw json.RawMessage) string {
	return l.checkText(field, raw, unquote(raw))
}

// unquote reads a JSON string. It replaces a lone surrogate by U+FFFD.
func unquote(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) // parseObject has checked it
	return s
}

// object returns the JSON of a field, which may be given as a JSON string that holds it.
func (l *taskLine) object(field string) json.RawMessage {
	raw := l.fields[field]
	if raw[0] == '"' {
		return json.RawMessage(l.unquote(field, raw))
	}
	return raw
}

// surrogate matches an escape in a JSON string. Its group is a surrogate without its pair.
var surrogate = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(u[dD][89a-fA-F]..)|.)`)

// checkText refuses texts that a text column cannot store. raw is the JSON that holds s.
func (l *taskLine) checkText(field string, raw json.RawMessage, s string) string {
	lone := func(escape [][]byte) bool { return escape[1] != nil }
	switch {
	case strings.ContainsRune(s, 0):
		l.refuse(field, "contains a NUL character")
	case strings.ContainsRune(s, utf8.RuneError) && slices.ContainsFunc(surrogate.FindAllSubmatch(raw, -1), lone):
		l.refuse(field, "contains a lone surrogate")
	default:
		return s
	}
	return ""
}

// tests reads a list of test names, given as a list or as a JSON string that holds one.
// It removes duplicates.
func (l *taskLine) tests(field string) []string {
	items := l.list(field, "a list of test names", "the name of a test")
	if items == nil {
		return nil
	}
	names, seen := make([]string, 0, len(items)), map[string]bool{}
	for _, name := range items {
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	return names
}

// list reads a list of texts, given as a list or as a JSON string that holds one. Problems say what it
// and its items should be. It is nil with a problem, and without the field.
func (l *taskLine) list(field, what, item string) []string {
	l.used[field] = true
	if !l.has(field) {
		return nil
	}
	before := len(l.problems)
	list := l.object(field)
	if len(l.problems) > before {
		return nil
	}
	var items []json.RawMessage
	if json.Unmarshal(list, &items) != nil {
		l.refuse(field, "is neither %s nor a JSON string that holds one", what)
		return nil
	}
	texts := make([]string, len(items))
	for i, raw := range items {
		if len(raw) == 0 || raw[0] != '"' {
			l.refuse(field, "item %d is not a string", i+1)
			return nil
		}
		texts[i] = l.unquote(field, raw)
		if len(l.problems) > before {
			return nil
		}
		if strings.TrimSpace(texts[i]) == "" {
			l.refuse(field, "item %d is not %s", i+1, item)
			return nil
		}
	}
	return texts
}
