package web

import (
	"html/template"
	"strings"
	"unicode/utf8"
)

// How much of a long body is shown before all of it is asked for, in bytes.
const (
	headShown = 4000
	tailShown = 1500
)

// body is a text of any length, with what of it is shown.
type body struct {
	Head, Tail template.HTML
	Hidden     int    // bytes between them
	All        string // address of the whole
}

// wholeBody shows all of a text.
func wholeBody(s string) body { return body{Head: show(s)} }

// cappedBody shows the ends of a text; all of it is at an address.
func cappedBody(s, all string) body {
	if len(s) <= headShown+tailShown+200 {
		return wholeBody(s)
	}
	head, tail := s[:headShown], s[len(s)-tailShown:]
	if i := strings.LastIndexByte(head, '\n'); i > headShown/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < tailShown/2 {
		tail = tail[i+1:]
	}
	for len(head) > headShown-4 && !utf8.RuneStart(s[len(head)]) {
		head = head[:len(head)-1]
	}
	for len(tail) > tailShown-4 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return body{Head: show(strings.TrimSuffix(head, "\n")), Tail: show(tail), Hidden: len(s) - len(head) - len(tail), All: all}
}
