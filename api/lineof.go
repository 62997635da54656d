package api

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// LineOf returns the line, from 1, of the value at a path such as sources[0].weights in a JSON text, or of the
// deepest value on the way to it that the text has.
func LineOf(text []byte, path string) int {
	line, deepest := 1, ""
	for place, end := range places(text) {
		if len(place) > len(deepest) && leadsTo(place, path) {
			line, deepest = LineAt(text, end), place
		}
	}
	return line
}

// LineAt returns the line, from 1, of an offset in a text.
func LineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n"))
}

// PathAt returns the path of the value at an offset in a JSON text.
func PathAt(text []byte, offset int) string {
	for place, end := range places(text) {
		if end >= offset {
			return place
		}
	}
	return ""
}

// places yields the path of each key and value of a JSON text up to its first error, and the offset behind it.
func places(text []byte) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		r := &strictReader{dec: json.NewDecoder(bytes.NewReader(text))}
		for {
			token, err := r.dec.Token()
			if err != nil {
				return
			}
			place := r.place() // of a value
			done, err := r.step(token)
			if _, is := token.(string); is && len(r.place()) > len(place) { // it is a key
				place = r.place()
			}
			if err != nil || !yield(place, int(r.dec.InputOffset())) || done {
				return
			}
		}
	}
}

// leadsTo reports whether a place is that of a path, or of a value around it.
func leadsTo(place, path string) bool {
	rest, is := strings.CutPrefix(path, place)
	return is && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
