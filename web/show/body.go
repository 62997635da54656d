package show

import (
	"html/template"
	"regexp"
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
	return bodyOf(begins, ends, length, all)
}

func bodyOf(head, tail string, length int, all string) Body {
	return Body{Head: safetext.HTML(strings.TrimSuffix(head, "\n")), Tail: safetext.HTML(tail), Hidden: length - len(head) - len(tail), All: all}
}

// Body is a rendered text, possibly without its middle.
type Body struct {
	Head, Tail template.HTML
	Hidden     int    // bytes between them
	All        string // address of the whole
}

var lineNumber = regexp.MustCompile(`(?m)^([0-9]+)\t`)

// Numbered sets the numbers apart that lines begin with, before a tab.
func (b Body) Numbered() Body {
	mark := func(s template.HTML) template.HTML {
		return template.HTML(lineNumber.ReplaceAllString(string(s), `<span class="no">$1</span>`+"\t"))
	}
	b.Head, b.Tail = mark(b.Head), mark(b.Tail)
	return b
}

// Whole renders a whole text.
func Whole(s string) Body { return Body{Head: safetext.HTML(s)} }
