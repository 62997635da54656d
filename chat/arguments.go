package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"
)

// Argument is one field of a call's arguments.
type Argument struct {
	Name  string
	Value json.RawMessage // unchanged
}

// Text is the text of a string, or the JSON of another value.
func (a Argument) Text() string {
	if a.Value[0] == '"' {
		return DecodeString(a.Value)
	}
	return string(a.Value)
}

// ReadArguments reads the fields of a call's arguments in order, with duplicates; ok is false if the text is
// not a JSON object.
func ReadArguments(text string) (all []Argument, ok bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, false
		}
		all = append(all, Argument{name.(string), value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	_, err := dec.Token()
	return all, err == io.EOF
}

// ObjectArguments returns a call's arguments as a JSON object, which endpoints require: the arguments
// if they are one, {} if they are empty, or else {"malformed_arguments": TEXT}.
func ObjectArguments(s string) string {
	body := strings.TrimLeft(s, " \t\r\n")
	switch {
	case body == "":
		return "{}"
	case body[0] == '{' && utf8.ValidString(s) && json.Valid([]byte(s)):
		return s
	}
	wrapped := AppendString([]byte(`{"malformed_arguments": `), strings.ToValidUTF8(s, "\uFFFD"))
	return string(append(wrapped, '}'))
}
