package tokenizer

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// The patterns with a scanner, identified by their text.
const (
	gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

	contractions = `(?i:'s|'t|'re|'ve|'m|'ll|'d)`
	spaceTail    = `|\s*[\r\n]+|\s+(?!\S)|\s+`
	upperWord    = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`
	lowerWord    = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*`

	cl100kPattern = contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + spaceTail
	qwen2Pattern  = contractions + `|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*` + spaceTail
	qwen35Pattern = contractions + `|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + spaceTail
	o200kPattern  = upperWord + contractions + `?|` + lowerWord + contractions + `?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + spaceTail
	tekkenPattern = upperWord + `|` + lowerWord + `|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + spaceTail
	digitsPattern = `\p{N}{1,3}`
	cjkPattern    = `[一-龥぀-ゟ゠-ヿ]+`
	deepSeekSigns = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
	deepSeekRest  = "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
	deepSeekWords = deepSeekSigns + "[A-Za-z]+|" + deepSeekRest
)

// scannerOf returns the scanner of a pattern, nil if it has none.
func scannerOf(pattern string) finder {
	c := characters()
	switch pattern {
	case gpt2Pattern:
		return scanner(func(s string, i int) (int, int) { return i, c.gpt2(s, i) })
	case cl100kPattern:
		return wordShape{c, letters, 3, "\r\n"}.scanner()
	case qwen2Pattern:
		return wordShape{c, letters, 1, "\r\n"}.scanner()
	case qwen35Pattern:
		return wordShape{c, letters | marks, 1, "\r\n"}.scanner()
	case o200kPattern:
		return caseShape{wordShape{c, letters, 3, "\r\n/"}, true}.scanner()
	case tekkenPattern:
		return caseShape{wordShape{c, letters, 1, "\r\n/"}, false}.scanner()
	case digitsPattern:
		return scanner(c.digitGroups)
	case cjkPattern:
		return scanner(scanCJK)
	case deepSeekWords:
		return scanner(c.deepSeek)
	}
	return nil
}

// gpt2 returns the end of the match of gpt2Pattern at i.
func (c *characterTable) gpt2(s string, i int) int {
	if n := contraction(s, i, false); n > 0 {
		return i + n
	}
	j := i
	if s[i] == ' ' && i+1 < len(s) {
		j++
	}
	switch k, n := c.at(s, j); {
	case k&letters != 0:
		return c.run(s, j+n, letters)
	case k&numbers != 0:
		return c.run(s, j+n, numbers)
	case k&spaces == 0:
		return c.run(s, j+n, anyKind&^(spaces|letters|numbers))
	}
	return c.whitespace(s, i, false)
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd at i, 0 if there is none. With
// case folding, the long s counts as an s.
func contraction(s string, i int, fold bool) int {
	if s[i] != '\'' || i+1 >= len(s) {
		return 0
	}
	first := s[i+1]
	if fold && first == "ſ"[0] && strings.HasPrefix(s[i+1:], "ſ") {
		return 1 + len("ſ")
	}
	lower := func(b byte) byte {
		if fold && b >= 'A' && b <= 'Z' {
			return b + 'a' - 'A'
		}
		return b
	}
	switch lower(first) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if i+2 < len(s) && lower(s[i+2]) == 'e' {
			return 3
		}
	case 'l':
		if i+2 < len(s) && lower(s[i+2]) == 'l' {
			return 3
		}
	}
	return 0
}

// whitespace returns the end of the match of white space at i: with lines, after the last line
// break; otherwise all of it at the end of the text; otherwise all but the last character, which
// belongs to the next word, or that character if it is the only one.
func (c *characterTable) whitespace(s string, i int, lines bool) int {
	end, last, newline := i, i, -1
	for end < len(s) {
		k, n := c.at(s, end)
		if k&spaces == 0 {
			break
		}
		if s[end] == '\n' || s[end] == '\r' {
			newline = end + 1
		}
		last = end
		end += n
	}
	switch {
	case lines && newline > 0:
		return newline
	case end == len(s) || last == i:
		return end
	}
	return last
}

// digitGroups finds \p{N}{1,3}.
func (c *characterTable) digitGroups(s string, i int) (int, int) {
	for i < len(s) {
		k, n := c.at(s, i)
		if k&numbers != 0 {
			return i, c.upTo(s, i+n, numbers, 2)
		}
		i += n
	}
	return len(s), len(s)
}

// upTo returns the end of a run of at most n characters of the kinds in.
func (c *characterTable) upTo(s string, i int, in kinds, n int) int {
	for ; n > 0 && i < len(s); n-- {
		k, size := c.at(s, i)
		if k&in == 0 {
			break
		}
		i += size
	}
	return i
}

// scanCJK finds runs of the ideographs and kana of cjkPattern.
func scanCJK(s string, i int) (int, int) {
	start := -1
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			if start >= 0 {
				return start, i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if in := r >= '一' && r <= '龥' || r >= 0x3040 && r <= 0x30ff; in != (start >= 0) {
			if start >= 0 {
				return start, i
			}
			start = i
		}
		i += n
	}
	if start < 0 {
		start = len(s)
	}
	return start, len(s)
}

// literalFinder finds a text.
type literalFinder string

func (f literalFinder) all(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for i := 0; ; {
			at := strings.Index(text[i:], string(f))
			if at < 0 || !yield(Span{i + at, i + at + len(f)}) {
				return
			}
			i += at + len(f)
		}
	}
}
