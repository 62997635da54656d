package tokenizer

import "strings"

// deepSeek finds deepSeekWords: a sign and Latin letters; a word after one character that is not a
// letter, sign or line break; signs with a space before and line breaks after them; white space.
// Numbers and other text are between the matches.
func (c *characterTable) deepSeek(s string, i int) (int, int) {
	for i < len(s) {
		k, n := c.at(s, i)
		if end := c.deepSeekAt(s, i, k, n); end > i {
			return i, end
		}
		i += n
	}
	return len(s), len(s)
}

// deepSeekAt returns the end of the match at i, or i.
func (c *characterTable) deepSeekAt(s string, i int, k kinds, n int) int {
	const word, signs = letters | marks, punctuation | symbols
	if k&signs != 0 && n == 1 {
		if end := latinRun(s, i+1); end > i+1 {
			return end
		}
	}
	if k&(letters|signs) == 0 && s[i] != '\r' && s[i] != '\n' && i+n < len(s) {
		if next, size := c.at(s, i+n); next&word != 0 {
			return c.run(s, i+n+size, word)
		}
	}
	if k&word != 0 {
		return c.run(s, i+n, word)
	}
	j := i
	if s[i] == ' ' {
		j++
	}
	if end := c.run(s, j, signs); end > j {
		for end < len(s) && strings.IndexByte("\r\n", s[end]) >= 0 {
			end++
		}
		return end
	}
	return c.whitespace(s, i, true)
}

func latinRun(s string, i int) int {
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
		i++
	}
	return i
}
