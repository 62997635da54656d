package show

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"

	"relabel/safetext"
)

// Answers of two policies are compared as equals: neither is an edit of the other. Each is shown
// whole, with marks on what the other lacks.

// Span is a piece of a text.
type Span struct {
	Text string
	Own  bool // the other text lacks it
}

// fineness is the granularity of a comparison.
type fineness int

// The granularities, each for texts too long for the one before.
const (
	byWords fineness = iota
	byLines
	byEnds // only what both begin and end with is held to be the same
)

// Largest input of each granularity, both texts together.
const (
	mostExact = 4_000 // tokens
	mostWords = 30_000
	mostLines = 60_000
	mostBytes = 4 << 20
)

// compareTexts marks in each text what the other lacks.
func compareTexts(a, b string) (x, y []Span, by fineness) {
	if len(a)+len(b) > mostBytes {
		x, y = compareEnds(a, b)
		return x, y, byEnds
	}
	if u, v := words(a), words(b); len(u)+len(v) <= mostWords {
		x, y = compareTokens(u, v)
		return x, y, byWords
	}
	if u, v := linesOf(a), linesOf(b); len(u)+len(v) <= mostLines {
		x, y = compareTokens(u, v)
		return x, y, byLines
	}
	x, y = compareEnds(a, b)
	return x, y, byEnds
}

// compareTokens compares tokenized texts. If almost nothing is common, everything is marked: single
// common letters would only distract.
func compareTokens(x, y []string) (a, b []Span) {
	hunks := joinOverBlanks(hunksOf(x, y), x)
	if !alike(x, y, hunks) {
		return appendSpan(nil, x, true), appendSpan(nil, y, true)
	}
	i, j := 0, 0
	for _, h := range hunks {
		a, b = appendSpan(a, x[i:h.PosX], false), appendSpan(b, y[j:h.PosY], false)
		a, b = appendSpan(a, x[h.PosX:h.EndX], true), appendSpan(b, y[h.PosY:h.EndY], true)
		i, j = h.EndX, h.EndY
	}
	return appendSpan(a, x[i:], false), appendSpan(b, y[j:], false)
}

// hunksOf finds the differences. For many tokens it uses an algorithm whose time does not grow with
// the number of differences and which may not find the fewest.
func hunksOf(x, y []string) []diff.Hunk[string] {
	if len(x)+len(y) > mostExact {
		return diff.Hunks(x, y, diff.Context(0), diff.Fast())
	}
	return diff.Hunks(x, y, diff.Context(0))
}

func appendSpan(spans []Span, tokens []string, own bool) []Span {
	if len(tokens) == 0 {
		return spans
	}
	return append(spans, Span{strings.Join(tokens, ""), own})
}

// joinOverBlanks joins differences separated by blanks only, so that neighbouring changed words
// share one mark.
func joinOverBlanks(hunks []diff.Hunk[string], x []string) []diff.Hunk[string] {
	var joined []diff.Hunk[string]
	for _, h := range hunks {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			if replaces(*last) && replaces(h) && blank(x[last.EndX:h.PosX]) {
				last.EndX, last.EndY = h.EndX, h.EndY
				continue
			}
		}
		joined = append(joined, h)
	}
	return joined
}

func replaces(h diff.Hunk[string]) bool { return h.PosX < h.EndX && h.PosY < h.EndY }

func blank(tokens []string) bool {
	for _, t := range tokens {
		if strings.Trim(t, " \t") != "" {
			return false
		}
	}
	return true
}

// alike reports whether at least a sixth of the shorter text is common, not counting blanks and
// signs.
func alike(x, y []string, hunks []diff.Hunk[string]) bool {
	own, all := 0, letters(x)
	for _, h := range hunks {
		own += letters(x[h.PosX:h.EndX])
	}
	return len(hunks) == 0 || 6*(all-own) >= min(all, letters(y))
}

func letters(tokens []string) (n int) {
	for _, t := range tokens {
		if r, _ := utf8.DecodeRuneInString(t); ofWord(r) || len(t) > 4 {
			n += len(t)
		}
	}
	return n
}

// compareEnds treats the common first and last lines as equal and the rest as different.
func compareEnds(a, b string) (x, y []Span) {
	u, v := linesOf(a), linesOf(b)
	head, tail := commonEnds(u, v)
	return ends(u, head, tail), ends(v, head, tail)
}

func ends(lines []string, head, tail int) []Span {
	rest := len(lines) - tail
	spans := appendSpan(nil, lines[:head], false)
	return appendSpan(appendSpan(spans, lines[head:rest], true), lines[rest:], false)
}

func words(s string) []string {
	tokens := make([]string, 0, len(s)/3)
	for len(s) > 0 {
		n := wordLength(s)
		tokens = append(tokens, s[:n])
		s = s[n:]
	}
	return tokens
}

func wordLength(s string) int {
	if safetext.IsSurrogate(s) {
		return 3
	}
	first, n := utf8.DecodeRuneInString(s)
	kind := kindOf(first)
	for n < len(s) {
		r, more := utf8.DecodeRuneInString(s[n:])
		if !unicode.IsMark(r) && (kind == sign || kindOf(r) != kind) {
			break
		}
		n += more // an accent stays with its letter
	}
	return n
}

// The kinds of characters that words are made of.
const (
	sign = iota
	letter
	space
)

func kindOf(r rune) int {
	switch {
	case ofWord(r):
		return letter
	case r == ' ' || r == '\t':
		return space
	}
	return sign
}

func ofWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func linesOf(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}
