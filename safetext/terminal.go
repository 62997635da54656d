package safetext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Terminal returns text for a terminal, with a mark for each control character and each
// invisible one. Line breaks and tabs are kept.
func Terminal(text string) string {
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
		case isHidden(r) || unicode.Is(unicode.Variation_Selector, r):
			fmt.Fprintf(&b, "‹U+%04X›", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// TerminalLine is Terminal for text that must stay on one line.
func TerminalLine(text string) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(Terminal(text))
}
