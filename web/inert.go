package web

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text comes from models and from programs that they ran. It is shown as it is, inert:
// what a browser would hide, reorder or obey becomes a visible mark.

// ansi is a terminal's control sequence, which is shown as one mark.
var ansi = regexp.MustCompile(`^\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// show returns s as HTML: everything escaped, and each character that cannot be seen as
// a mark.
func show(s string) template.HTML {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	walk(s, func(text string) { template.HTMLEscape(&b, []byte(text)) }, func(mark string) {
		b.WriteString(`<span class="ctl">`)
		template.HTMLEscape(&b, []byte(mark))
		b.WriteString(`</span>`)
	})
	return template.HTML(b.String()) // each piece was escaped above
}

// plain returns s with marks but without markup, for titles and attributes.
func plain(s string) string {
	var b strings.Builder
	write := func(text string) { b.WriteString(text) }
	walk(s, write, write)
	return b.String()
}

// walk cuts s into text that can be shown as it is and marks for what cannot.
func walk(s string, text, mark func(string)) {
	start := 0
	for i := 0; i < len(s); {
		m, n := markOf(s[i:])
		if m == "" {
			i += n
			continue
		}
		if start < i {
			text(s[start:i])
		}
		mark(m)
		i += n
		start = i
	}
	if start < len(s) {
		text(s[start:])
	}
}

// markOf returns the mark for the character that s starts with, or "" where it can be
// shown, and how many bytes it takes.
func markOf(s string) (mark string, n int) {
	c := s[0]
	switch {
	case c == '\n' || c == '\t' || c >= ' ' && c < 0x7f:
		return "", 1
	case c == '\r' && strings.HasPrefix(s, "\r\n"):
		return "", 1 // as good as a line's end
	case c == 0x1b:
		if sequence := ansi.FindString(s); sequence != "" {
			return carets(sequence), len(sequence)
		}
		return "^[", 1
	case c < ' ' || c == 0x7f:
		return carets(s[:1]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1 && isSurrogate(s):
		return fmt.Sprintf("‹U+%04X›", rune(s[0]&0x0F)<<12|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F)), 3
	case r == utf8.RuneError && n == 1:
		return fmt.Sprintf("‹%02X›", c), 1
	case isHidden(r):
		return fmt.Sprintf("‹U+%04X›", r), n
	}
	return "", n
}

// carets writes control characters as terminals do: ^@ for NUL, ^[ for escape.
func carets(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c == 0x7f {
			b.WriteByte('^')
			c ^= '@'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// isHidden reports whether r shows nothing, or changes the order of what is shown.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) && r != 0x200d // joins emoji
}

// isSurrogate reports whether s starts with the three-byte form of half a surrogate pair.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}

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
