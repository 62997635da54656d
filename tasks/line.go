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

// taskLine is one row of a task file with its problems.
type taskLine struct {
	place    Place
	raw      []byte // of the row in a file of JSON; nil in others
	fields   map[string]json.RawMessage
	used     map[string]bool // the fields that were read into the task
	problems []Problem
}

// newTaskLine returns a line with these fields, all unused.
func newTaskLine(place Place, fields map[string]json.RawMessage) *taskLine {
	return &taskLine{place: place, fields: fields, used: map[string]bool{}}
}

// json returns the row as a line of JSONL.
func (l *taskLine) json() ([]byte, error) {
	if l.raw == nil {
		return json.Marshal(l.fields)
	}
	if !bytes.ContainsAny(l.raw, "\n\r") {
		return l.raw, nil
	}
	var line bytes.Buffer
	err := json.Compact(&line, l.raw) // an item of an array, over several lines
	return line.Bytes(), err
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

func (l *taskLine) refuse(field, format string, args ...any) {
	l.problems = append(l.problems, Problem{l.place, field, fmt.Sprintf(format, args...)})
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
	if lower := strings.ToLower(field); !l.has(field) && l.has(lower) {
		field = lower
	}
	items := l.list(field, "a list of test names", "the name of a test")
	return distinct(items)
}

// distinct removes repeated items.
func distinct(items []string) []string {
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
