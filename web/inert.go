package web

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text comes from models, from programs that they ran, and from people. It is shown as it
// is, inert: markup is escaped, and what a browser would hide, reorder or obey becomes a
// visible mark. The colours of terminals are shown by classes of our own (inert_ansi.go).

// sequence is a terminal's control sequence, which is shown as one mark.
var sequence = regexp.MustCompile(`^\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)?|[@-Z\\-_])`)

// kind is what a piece of a text is.
type kind int

const (
	seen   kind = iota // can be shown as it is
	mark               // stands for what cannot be seen
	colour             // a terminal's sequence for colours and the like
)

// show returns s as HTML: everything escaped, terminals' colours as classes, and each
// character that cannot be seen as a mark.
func show(s string) template.HTML {
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	var look style
	walk(s, func(k kind, piece string) {
		switch k {
		case colour:
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

// plain returns s with marks but without markup, for titles and attributes.
func plain(s string) string {
	var b strings.Builder
	walk(s, func(k kind, piece string) {
		if k == colour {
			piece = carets(piece)
		}
		b.WriteString(piece)
	})
	return b.String()
}

// exact returns s for a form's field, which gives it back as it is: what cannot be seen is
// written by its number.
func exact(s string) template.HTML {
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

// walk cuts s into pieces, in order.
func walk(s string, take func(k kind, piece string)) {
	start := 0
	for i := 0; i < len(s); {
		k, piece, n := pieceOf(s[i:])
		if k == seen {
			i += n
			continue
		}
		if start < i {
			take(seen, s[start:i])
		}
		take(k, piece)
		i += n
		start = i
	}
	if start < len(s) {
		take(seen, s[start:])
	}
}

// pieceOf says what s begins with, and how many bytes that takes. piece is the mark, or
// the sequence; of what is seen it is not set.
func pieceOf(s string) (k kind, piece string, n int) {
	c := s[0]
	switch {
	case c == '\n' || c == '\t' || c >= ' ' && c < 0x7f:
		return seen, "", 1
	case c == '\r' && strings.HasPrefix(s, "\r\n"):
		return seen, "", 1 // as good as a line's end
	case c == 0x1b:
		found := sequence.FindString(s)
		switch {
		case found == "":
			return mark, "^[", 1
		case isColour(found):
			return colour, found, len(found)
		}
		return mark, carets(found), len(found)
	case c < ' ' || c == 0x7f:
		return mark, carets(s[:1]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1 && isSurrogate(s):
		return mark, fmt.Sprintf("‹U+%04X›", rune(s[0]&0x0F)<<12|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F)), 3
	case r == utf8.RuneError && n == 1:
		return mark, fmt.Sprintf("‹%02X›", c), 1
	case isHidden(r) && !joinsEmoji(s):
		return mark, fmt.Sprintf("‹U+%04X›", r), n
	}
	return seen, "", n
}

// carets writes control characters as terminals do: ^@ for NUL, ^[ for escape. A byte that
// is no part of a character is a mark too.
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
		if k == seen {
			piece = s[i : i+n]
		}
		b.WriteString(piece)
		i += n
	}
	return b.String()
}

// blanks are characters that count as letters or symbols and show nothing.
var blanks = &unicode.RangeTable{
	R16: []unicode.Range16{{0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x2800, 0x2800, 1}, {0x3164, 0x3164, 1}, {0xfe00, 0xfe0e, 1}, {0xffa0, 0xffa0, 1}, {0xfffc, 0xfffc, 1}},
	R32: []unicode.Range32{{0x1d159, 0x1d159, 1}, {0xe0100, 0xe01ef, 1}},
}

// isHidden reports whether r shows nothing, looks like a space that it is not, or changes
// the order of what is shown.
func isHidden(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' ' || unicode.Is(blanks, r)
}

// joinsEmoji reports whether s starts with the character that makes one emoji of two.
func joinsEmoji(s string) bool {
	rest, is := strings.CutPrefix(s, "\u200d")
	next, _ := utf8.DecodeRuneInString(rest)
	return is && next != utf8.RuneError && unicode.Is(unicode.So, next)
}

// isSurrogate reports whether s starts with the three-byte form of half a surrogate pair.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}
