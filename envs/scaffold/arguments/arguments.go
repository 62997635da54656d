// Package arguments decodes the arguments of tool calls, which models write as JSON text.
package arguments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the type of a parameter's value.
type Kind string

// The kinds.
const (
	Text     Kind = "string"
	Integer  Kind = "integer"
	LineSpan Kind = "array of two integers"
)

// Parameter is a parameter of a tool.
type Parameter struct {
	Kind     Kind
	Required bool
}

// Arguments are the decoded parameters of one call. The maps do not contain absent or null parameters.
type Arguments struct {
	Texts    map[string]string
	Integers map[string]int
	Spans    map[string][2]int
}

// Decode reads the JSON text of a call: one object with parameters of the tool, each at most
// once and of its kind, and all required ones. null counts as absent, and a number such as 5.0 as an
// integer. The error is for the model.
func Decode(raw string, takes map[string]Parameter) (Arguments, error) {
	args := Arguments{Texts: map[string]string{}, Integers: map[string]int{}, Spans: map[string][2]int{}}
	fields, err := decodeObject(raw)
	if err != nil {
		return args, err
	}
	for _, f := range fields {
		p, ok := takes[f.name]
		if !ok {
			return args, fmt.Errorf("there is no parameter %q", f.name)
		}
		if bytes.Equal(f.value, []byte("null")) {
			continue
		}
		if err := args.set(f.name, p.Kind, f.value); err != nil {
			return args, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(takes)) {
		if takes[name].Required && !args.Has(name) {
			return args, fmt.Errorf("the parameter %s is missing", name)
		}
	}
	return args, nil
}

// Has reports whether the parameter was given.
func (a Arguments) Has(name string) bool {
	_, isText := a.Texts[name]
	_, isInteger := a.Integers[name]
	_, isSpan := a.Spans[name]
	return isText || isInteger || isSpan
}

// set decodes one value.
func (a Arguments) set(name string, k Kind, value json.RawMessage) error {
	wrong := fmt.Errorf("the parameter %s must be %s %s, not %s", name, article(k), k, kindOf(value))
	switch k {
	case Text:
		var s string
		if json.Unmarshal(value, &s) != nil {
			return wrong
		}
		a.Texts[name] = s
	case Integer:
		n, ok := decodeInteger(value)
		if !ok {
			return wrong
		}
		a.Integers[name] = n
	case LineSpan:
		var pair []json.RawMessage
		if json.Unmarshal(value, &pair) != nil || len(pair) != 2 {
			return wrong
		}
		first, ok1 := decodeInteger(pair[0])
		last, ok2 := decodeInteger(pair[1])
		if !ok1 || !ok2 {
			return wrong
		}
		a.Spans[name] = [2]int{first, last}
	}
	return nil
}

func article(k Kind) string {
	if k == Text {
		return "a"
	}
	return "an"
}

// kindOf names the type of a JSON value.
func kindOf(value json.RawMessage) string {
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "this array"
	case 't', 'f':
		return "a boolean"
	}
	return "the number " + string(value)
}

// decodeInteger accepts a JSON number with an integral value that fits into 32 bits.
func decodeInteger(value json.RawMessage) (int, bool) {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > math.MaxInt32 {
		return 0, false
	}
	return int(f), true
}

// field is one member of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// decodeObject splits one JSON object into its members. Unlike encoding/json it refuses invalid UTF-8,
// lone surrogates, repeated names and text after the object.
func decodeObject(raw string) ([]field, error) {
	if !utf8.ValidString(raw) || hasLoneSurrogate(raw) {
		return nil, errors.New("they hold text that is not valid Unicode")
	}
	d := json.NewDecoder(strings.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, notAnObject(err)
	}
	var fields []field
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, notAnObject(err)
		}
		f := field{name: key.(string)}
		if err := d.Decode(&f.value); err != nil {
			return nil, notAnObject(err)
		}
		if seen[f.name] {
			return nil, fmt.Errorf("the parameter %q is given twice", f.name)
		}
		seen[f.name] = true
		fields = append(fields, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, notAnObject(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return fields, nil
}

// notAnObject describes a syntax error.
func notAnObject(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("they are not a whole JSON object: the text breaks off")
	case err != nil:
		return fmt.Errorf("they are not a JSON object: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return errors.New("they are not a JSON object")
}

// escapes matches the escapes of JSON text: pairs of surrogates, lone surrogates (the group), others.
var escapes = regexp.MustCompile(`(?s)\\(?:u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|(u[dD][89a-fA-F][[:xdigit:]]{2})|.)`)

// hasLoneSurrogate reports whether JSON text escapes half of a surrogate pair, which no file and no
// command line can contain.
func hasLoneSurrogate(raw string) bool {
	return slices.ContainsFunc(escapes.FindAllStringSubmatch(raw, -1), func(m []string) bool { return m[1] != "" })
}
