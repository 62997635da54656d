package show

import (
	"html/template"
	"strings"

	"relabel/safetext"
)

// Bytes shown of each end of a long text.
const (
	HeadShown = 4000
	TailShown = 1500
)

// Ends renders a text of which only the ends were read; length is that of the whole, in bytes.
func Ends(head, tail string, length int, all string) Body {
	if tail == "" {
		return Whole(head)
	}
	begins, ends := cutEnds(head+tail, len(head), len(tail))
	return Body{Head: safetext.HTML(strings.TrimSuffix(begins, "\n")), Tail: safetext.HTML(ends), Hidden: length - len(begins) - len(ends), All: all}
}

// Body is a rendered text, possibly without its middle.
type Body struct {
	Head, Tail template.HTML
	Hidden     int    // bytes between them
	All        string // address of the whole
}

// Whole renders a whole text.
func Whole(s string) Body { return Body{Head: safetext.HTML(s)} }

// Capped renders a text without the middle if it is long; all is the address of the whole.
func Capped(s, all string) Body {
	if len(s) <= HeadShown+TailShown+200 {
		return Whole(s)
	}
	head, tail := cutEnds(s, HeadShown, TailShown)
	return Body{Head: safetext.HTML(strings.TrimSuffix(head, "\n")), Tail: safetext.HTML(tail), Hidden: len(s) - len(head) - len(tail), All: all}
}
