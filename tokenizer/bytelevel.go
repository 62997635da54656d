package tokenizer

import "unicode/utf8"

// Byte-level tokenizers write each byte as one visible character: printable Latin-1 unchanged, the
// other 68 bytes as the characters from U+0100 on.
var (
	byteChars = func() (chars [256]rune) {
		next := rune(256)
		for b := range chars {
			if b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae {
				chars[b] = rune(b)
			} else {
				chars[b] = next
				next++
			}
		}
		return chars
	}()
	charBytes = func() (bytes [324]int16) { // −1: not the character of a byte
		for i := range bytes {
			bytes[i] = -1
		}
		for b, c := range byteChars {
			bytes[c] = int16(b)
		}
		return bytes
	}()
)

// appendByteChars appends the characters of the bytes of s.
func appendByteChars(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = utf8.AppendRune(dst, byteChars[s[i]])
	}
	return dst
}

// appendCharBytes appends the bytes of the characters of s. It returns false and an unchanged dst if
// a character is not that of a byte.
func appendCharBytes(dst []byte, s string) ([]byte, bool) {
	start := len(dst)
	for _, c := range s {
		if int(c) >= len(charBytes) || charBytes[c] < 0 {
			return dst[:start], false
		}
		dst = append(dst, byte(charBytes[c]))
	}
	return dst, true
}
