package atif

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// sameJSON reports whether two texts are the same JSON value: white space, escapes, the order of keys and the
// spelling of fractions may differ, as they do when another program has read and written a document.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := parsed(a)
	y, errY := parsed(b)
	return errX == nil && errY == nil && sameValue(x, y)
}

// parsed keeps numbers as their text.
func parsed(raw []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return v, d.Decode(&v)
}

func sameValue(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, sameValue)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, sameValue)
	case json.Number:
		y, ok := b.(json.Number)
		return ok && sameNumber(string(x), string(y))
	}
	return a == b
}

// sameNumber compares integers by their digits, which may be more than a float has, and fractions as floats.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a, ".eE") && !strings.ContainsAny(b, ".eE") {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}
