package web

import (
	"html/template"
	"strings"

	"relabel/safetext"
)

// How much of a long body is shown before all of it is asked for, in bytes.
const (
	headShown = 4000
	tailShown = 1500
)

// endsOf shows the ends of a text of which nothing else was read.
func endsOf(head, tail string, length int, all string) body {
	if tail == "" {
		return wholeBody(head)
	}
	begins, ends := cutEnds(head+tail, len(head), len(tail))
	return body{Head: safetext.HTML(strings.TrimSuffix(begins, "\n")), Tail: safetext.HTML(ends), Hidden: length - len(begins) - len(ends), All: all}
}

// body is a text of any length, with what of it is shown.
type body struct {
	Head, Tail template.HTML
	Hidden     int    // bytes between them
	All        string // address of the whole
}

// wholeBody shows all of a text.
func wholeBody(s string) body { return body{Head: safetext.HTML(s)} }

// cappedBody shows the ends of a text; all of it is at an address.
func cappedBody(s, all string) body {
	if len(s) <= headShown+tailShown+200 {
		return wholeBody(s)
	}
	head, tail := cutEnds(s, headShown, tailShown)
	return body{Head: safetext.HTML(strings.TrimSuffix(head, "\n")), Tail: safetext.HTML(tail), Hidden: len(s) - len(head) - len(tail), All: all}
}
