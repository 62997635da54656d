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

// Agree reports whether two actions do the same: they call the same tools in the same order with equal
// arguments (see SameArguments), whatever their text. Without any call, their texts must be equal. The
// agreement of a student with its labels counts this.
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

// ActionKey returns the same text for two actions exactly if they Agree, to compare many actions without
// keeping their messages.
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

// SameArguments reports whether two texts are equal as JSON values: key order, white space and escapes are
// ignored, and numbers are compared as text. If one is not JSON, it compares the texts.
func SameArguments(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := jsonValue(a)
	y, okY := jsonValue(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// jsonValue decodes s, one JSON value, with numbers as text.
func jsonValue(s string) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil, false
	}
	_, err := dec.Token()
	return v, err == io.EOF
}
