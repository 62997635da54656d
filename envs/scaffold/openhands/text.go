package openhands

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxShown bounds the bytes of a command's output, or of a file, in one observation: about ten thousand
// tokens.
const maxShown = 30_000

// shown converts bytes for a model into valid UTF-8 of at most about limit bytes. dropped is the number
// of bytes that are already missing between head and tail.
//
// NUL and bytes that are not UTF-8 become \xNN. If there are any, a backslash before xNN becomes \x5c,
// so that bytes and text are distinct, and a note explains that. Everything else, including terminal
// escape sequences, is unchanged. If the text is too long, a mark with the number of missing bytes
// replaces the middle.
func shown(head, tail []byte, dropped int64, limit int) string {
	if dropped > 0 {
		head, tail, dropped = trimCut(head, tail, dropped)
	}
	escaped := needsEscapes(head) || needsEscapes(tail)
	if dropped == 0 {
		head, tail = append(head[:len(head):len(head)], tail...), nil
		if width(head, escaped) <= limit {
			return display(head, escaped) + escapeNote(escaped)
		}
		tail = head
	}
	front := fitting(head, limit/2, escaped)
	back := tail[lastFitting(tail, limit/2, escaped):]
	gone := dropped + int64(len(head)-front) - int64(len(back))
	if dropped > 0 {
		gone += int64(len(tail))
	}
	return display(head[:front], escaped) +
		fmt.Sprintf("\n[... %d bytes left out ...]\n", gone) +
		display(back, escaped) + escapeNote(escaped)
}

// trimCut drops the parts of a cut character at the end of head and at the start of tail, which would
// be shown as bytes.
func trimCut(head, tail []byte, dropped int64) ([]byte, []byte, int64) {
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if rest := head[len(head)-i:]; utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				head, dropped = head[:len(head)-i], dropped+int64(i)
			}
			break
		}
	}
	for i := 1; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail, dropped = tail[1:], dropped+1
	}
	return head, tail, dropped
}

func escapeNote(escaped bool) string {
	if !escaped {
		return ""
	}
	return "\n[bytes that are not text are shown as \\xNN, and a backslash before xNN as \\x5c]"
}

// needsEscapes reports whether b holds a byte that cannot be shown as it is.
func needsEscapes(b []byte) bool {
	for len(b) > 0 {
		_, n, bad := unit(b)
		if bad {
			return true
		}
		b = b[n:]
	}
	return false
}

// unit decodes the first character of b, and reports whether it is a byte to escape.
func unit(b []byte) (r rune, n int, bad bool) {
	r, n = utf8.DecodeRune(b)
	return r, n, r == 0 || (r == utf8.RuneError && n == 1)
}

// unitWidth returns the bytes that the first character of b takes up, and its length.
func unitWidth(b []byte, escaped bool) (shownBytes, n int) {
	_, n, bad := unit(b)
	if bad || (escaped && looksEscaped(b)) {
		return len(`\x00`), n
	}
	return n, n
}

// looksEscaped reports whether b starts with text that looks like an escape.
func looksEscaped(b []byte) bool {
	return len(b) >= 4 && b[0] == '\\' && b[1] == 'x' && isHex(b[2]) && isHex(b[3])
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// width returns the length of display(b), in bytes.
func width(b []byte, escaped bool) int {
	total := 0
	for len(b) > 0 {
		w, n := unitWidth(b, escaped)
		total += w
		b = b[n:]
	}
	return total
}

// fitting returns the length of the longest start of b that fits into budget bytes.
func fitting(b []byte, budget int, escaped bool) int {
	i := 0
	for i < len(b) {
		w, n := unitWidth(b[i:], escaped)
		if budget -= w; budget < 0 {
			break
		}
		i += n
	}
	return i
}

// lastFitting returns where the longest end of b that fits into budget bytes starts.
func lastFitting(b []byte, budget int, escaped bool) int {
	excess := width(b, escaped) - budget
	i := 0
	for excess > 0 && i < len(b) {
		w, n := unitWidth(b[i:], escaped)
		excess -= w
		i += n
	}
	return i
}

// display writes b with its escapes.
func display(b []byte, escaped bool) string {
	var out strings.Builder
	for len(b) > 0 {
		_, n, bad := unit(b)
		if bad || (escaped && looksEscaped(b)) {
			fmt.Fprintf(&out, `\x%02x`, b[0])
		} else {
			out.Write(b[:n])
		}
		b = b[n:]
	}
	return out.String()
}
