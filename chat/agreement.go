package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"relabel"
)

// Agree reports whether two actions do the same: the same tools called in the same
// order with arguments that are equal as JSON values, or as text where one is no JSON.
// What is said beside a call is no part of the action; where neither calls a tool, the
// words are. It is what agreement between a student's action and its label counts.
func Agree(a, b relabel.Message) bool {
	if len(a.ToolCalls) != len(b.ToolCalls) {
		return false
	}
	for k, c := range a.ToolCalls {
		o := b.ToolCalls[k]
		if c.Name != o.Name || !SameArguments(c.Arguments, o.Arguments) {
			return false
		}
	}
	return len(a.ToolCalls) > 0 || strings.TrimSpace(a.Content) == strings.TrimSpace(b.Content)
}

// ActionKey returns the same text for two actions exactly where Agree says that they do
// the same, so that many actions can be compared without keeping their messages.
func ActionKey(m relabel.Message) string {
	if len(m.ToolCalls) == 0 {
		return "words " + strings.TrimSpace(m.Content)
	}
	var b strings.Builder
	for _, c := range m.ToolCalls {
		kind, arguments := "text", c.Arguments
		if v, ok := jsonValue(c.Arguments); ok {
			if text, err := json.Marshal(v); err == nil {
				kind, arguments = "json", string(text)
			}
		}
		fmt.Fprintf(&b, "%s %q %q\n", kind, c.Name, arguments)
	}
	return b.String()
}

// SameArguments reports whether two texts are equal as JSON values: key order, blanks and
// escapes do not count, numbers do as they are written. Where one is no JSON, the texts
// are compared.
func SameArguments(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := jsonValue(a)
	y, okY := jsonValue(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// jsonValue reads the one JSON value that s is, numbers as they are written.
func jsonValue(s string) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	_, err := dec.Token()
	return v, err == io.EOF
}
