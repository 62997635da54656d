package tokenizer

import "strings"

// wordShape has the parameters of cl100k and similar patterns. They match, in this order:
// contractions; a word after one character that is not a letter, number or line break; numbers;
// signs with a space before and line breaks after them; white space.
type wordShape struct {
	*characterTable
	word   kinds  // characters of a word
	digits int    // maximum digits of a match
	tail   string // characters that may follow signs
}

func (w wordShape) scanner() scanner {
	return func(s string, i int) (int, int) { return i, w.next(s, i) }
}

func (w *wordShape) next(s string, i int) int {
	if n := contraction(s, i, true); n > 0 {
		return i + n
	}
	k, n := w.at(s, i)
	if mayPrecede(s[i], k) && i+n < len(s) {
		if next, size := w.at(s, i+n); next&w.word != 0 {
			return w.run(s, i+n+size, w.word)
		}
	}
	if k&w.word != 0 {
		return w.run(s, i+n, w.word)
	}
	return w.other(s, i, k, n)
}

// mayPrecede reports whether a character may precede a word in its match: [^\r\n\p{L}\p{N}].
func mayPrecede(first byte, k kinds) bool {
	return k&(letters|numbers) == 0 && first != '\r' && first != '\n'
}

// other matches numbers, signs and white space.
func (w *wordShape) other(s string, i int, k kinds, n int) int {
	if k&numbers != 0 {
		return w.upTo(s, i+n, numbers, w.digits-1)
	}
	signs := anyKind &^ (spaces | w.word | numbers)
	j := i
	if s[i] == ' ' {
		j++
	}
	if end := w.run(s, j, signs); end > j {
		for end < len(s) && strings.IndexByte(w.tail, s[end]) >= 0 {
			end++
		}
		return end
	}
	return w.whitespace(s, i, true)
}

// caseShape extends wordShape for o200k and similar patterns: a word ends where a capital follows
// small letters, and includes its contraction.
type caseShape struct {
	wordShape
	contractions bool
}

const (
	caseless = kindLm | kindLo | marks
	upper    = kindLu | kindLt | caseless
	lower    = kindLl | caseless
)

func (w caseShape) scanner() scanner {
	return func(s string, i int) (int, int) { return i, w.next(s, i) }
}

func (w *caseShape) next(s string, i int) int {
	k, n := w.at(s, i)
	before := mayPrecede(s[i], k)
	if before {
		if end := w.endingLow(s, i+n); end > i+n {
			return w.withContraction(s, end)
		}
	}
	if end := w.endingLow(s, i); end > i {
		return w.withContraction(s, end)
	}
	if before {
		if end := w.run(s, i+n, upper); end > i+n {
			return w.withContraction(s, end)
		}
	}
	if end := w.run(s, i, upper); end > i {
		return w.withContraction(s, end)
	}
	return w.other(s, i, k, n)
}

// endingLow matches capitals, then at least one small letter; a caseless character is both. It
// returns i if nothing matches.
func (w *caseShape) endingLow(s string, i int) int {
	end, caselessEnd := i, i // caselessEnd is the last position to backtrack to
	for end < len(s) {
		k, n := w.at(s, end)
		if k&upper == 0 {
			break
		}
		end += n
		if k&caseless != 0 {
			caselessEnd = end
		}
	}
	if low := w.run(s, end, lower); low > end {
		return low
	}
	return caselessEnd
}

func (w *caseShape) withContraction(s string, end int) int {
	if w.contractions && end < len(s) {
		end += contraction(s, end, true)
	}
	return end
}
