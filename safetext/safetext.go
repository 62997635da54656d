// Package safetext makes text of models, programs and people harmless to show. Markup is
// escaped, and what a browser or a terminal would hide, reorder or obey becomes a visible
// mark. Colors of terminals become CSS classes (ansi.go).
package safetext

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sequence matches a control sequence of a terminal. It becomes one mark.
var sequence = regexp.MustCompile(`^\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// kind classifies a piece of text.
type kind int

const (
	visible kind = iota // shown unchanged
	mark                // replaces invisible characters
	color               // a control sequence that sets colors and the like
)

// HTML returns s as HTML: escaped, with terminal colors as classes and a mark for each
// invisible character.
func HTML(s string) template.HTML {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	var look style
	walk(s, func(k kind, piece string) {
		switch k {
		case color:
			look.apply(piece)
		case mark:
			b.WriteString(`<span class="ctl">`)
			template.HTMLEscape(&b, []byte(piece))
			b.WriteString(`</span>`)
		default:
			classes := look.classes()
			if classes != "" {
				b.WriteString(`<span class="` + classes + `">`)
			}
			template.HTMLEscape(&b, []byte(piece))
			if classes != "" {
				b.WriteString(`</span>`)
			}
		}
	})
	return template.HTML(b.String()) // each piece was escaped above
}

// Plain returns s with marks and without markup, for titles and messages.
func Plain(s string) string {
	var b strings.Builder
	walk(s, func(k kind, piece string) {
		if k == color {
			piece = carets(piece)
		}
		b.WriteString(piece)
	})
	return b.String()
}

// Attr returns s as HTML for a form field that sends it back unchanged: invisible characters
// are written as numeric references.
func Attr(s string) template.HTML {
	var b strings.Builder
	for _, r := range s {
		if r != '\n' && isHidden(r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			template.HTMLEscape(&b, []byte(string(r)))
		}
	}
	return template.HTML(b.String()) // each character was escaped above
}

// walk calls take with the pieces of s, in order.
func walk(s string, take func(k kind, piece string)) {
	start := 0
	for i := 0; i < len(s); {
		k, piece, n := pieceOf(s[i:])
		if k == visible {
			i += n
			continue
		}
		if start < i {
			take(visible, s[start:i])
		}
		take(k, piece)
		i += n
		start = i
	}
	if start < len(s) {
		take(visible, s[start:])
	}
}

// pieceOf classifies the start of s, n bytes long. piece is the mark or the sequence; it is
// empty for visible text.
func pieceOf(s string) (k kind, piece string, n int) {
	c := s[0]
	switch {
	case c == '\n' || c == '\t' || c >= ' ' && c < 0x7f:
		return visible, "", 1
	case c == '\r' && strings.HasPrefix(s, "\r\n"):
		return visible, "", 1 // a line end
	case c == 0x1b:
		found := sequence.FindString(s)
		switch {
		case found == "":
			return mark, "^[", 1
		case isColor(found):
			return color, found, len(found)
		}
		return mark, carets(found), len(found)
	case c < ' ' || c == 0x7f:
		return mark, carets(s[:1]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1 && IsSurrogate(s):
		return mark, fmt.Sprintf("‹U+%04X›", rune(s[0]&0x0F)<<12|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F)), 3
	case r == utf8.RuneError && n == 1:
		return mark, fmt.Sprintf("‹%02X›", c), 1
	case isHidden(r) && !joinsEmoji(s):
		return mark, fmt.Sprintf("‹U+%04X›", r), n
	}
	return visible, "", n
}

// carets writes control characters as terminals do: ^@ for NUL, ^[ for escape. Other
// invisible characters and invalid bytes become marks.
func carets(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		if c < ' ' || c == 0x7f {
			b.WriteByte('^')
			b.WriteByte(c ^ '@')
			i++
			continue
		}
		k, piece, n := pieceOf(s[i:])
		if k == visible {
			piece = s[i : i+n]
		}
		b.WriteString(piece)
		i += n
	}
	return b.String()
}

// blanks are letters and symbols without a visible glyph.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2800, 0x2800, 1}, {0x3164, 0x3164, 1}, {0xfe00, 0xfe0e, 1}, {0xffa0, 0xffa0, 1}, {0xfffc, 0xfffc, 1}},
	R32: []unicode.Range32{{0x1d159, 0x1d159, 1}, {0xe0100, 0xe01ef, 1}},
}

// isHidden reports whether r is invisible, looks like a space without being one, or changes
// the order of other characters.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' ' || unicode.Is(blanks, r)
}

// joinsEmoji reports whether s starts with the joiner between two emoji.
func joinsEmoji(s string) bool {
	rest, is := strings.CutPrefix(s, "\u200d")
	next, _ := utf8.DecodeRuneInString(rest)
	return is && next != utf8.RuneError && unicode.Is(unicode.So, next)
}

// IsSurrogate reports whether s starts with a surrogate encoded in three bytes.
func IsSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}
