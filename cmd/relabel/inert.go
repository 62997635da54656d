package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// inert makes text of others harmless on a terminal: control characters, those that turn
// the direction of text, and others that are not seen are shown as what they are. Line
// breaks and tabs stay.
func inert(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' ' || unicode.Is(unicode.Variation_Selector, r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// inertLine is inert for what must stay in its line.
func inertLine(text string) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(inert(text))
}
