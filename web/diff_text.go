package web

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"

	"relabel/safetext"
)

// What two policies answered at one state are compared as equals: neither is an edit of
// the other. So each is shown whole, and what the other lacks is marked in it.

// span is a piece of a text.
type span struct {
	Text string
	Own  bool // the other text lacks it
}

// fineness says how finely two texts were compared.
type fineness int

// The degrees, each for what is too long for the one before.
const (
	byWords fineness = iota
	byLines
	byEnds // only what both begin and end with is held to be the same
)

// What is compared more finely than the next degree, both texts together.
const (
	mostExact = 4_000 // tokens
	mostWords = 30_000
	mostLines = 60_000
	mostBytes = 4 << 20
)

// compareTexts marks in each text what the other lacks.
func compareTexts(a, b string) (x, y []span, by fineness) {
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

// compareTokens compares texts that were cut into tokens. Where next to nothing is
// common, all is different: single letters in common would only distract.
func compareTokens(x, y []string) (a, b []span) {
	hunks := joinOverBlanks(hunksOf(x, y), x)
	if !alike(x, y, hunks) {
		return whole(x), whole(y)
	}
	i, j := 0, 0
	for _, h := range hunks {
		a, b = appendSpan(a, x[i:h.PosX], false), appendSpan(b, y[j:h.PosY], false)
		a, b = appendSpan(a, x[h.PosX:h.EndX], true), appendSpan(b, y[h.PosY:h.EndY], true)
		i, j = h.EndX, h.EndY
	}
	return appendSpan(a, x[i:], false), appendSpan(b, y[j:], false)
}

// hunksOf finds the differences; of many tokens in time that does not grow with how much
// they differ, though then not always the fewest.
func hunksOf(x, y []string) []diff.Hunk[string] {
	if len(x)+len(y) > mostExact {
		return diff.Hunks(x, y, diff.Context(0), diff.Fast())
	}
	return diff.Hunks(x, y, diff.Context(0))
}

func whole(tokens []string) []span { return appendSpan(nil, tokens, true) }

func appendSpan(spans []span, tokens []string, own bool) []span {
	if len(tokens) == 0 {
		return spans
	}
	return append(spans, span{strings.Join(tokens, ""), own})
}

// joinOverBlanks joins differences that only blanks stand between, so that two changed
// words are one mark and not two.
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

// replaces reports whether a difference has something on both sides.
func replaces(h diff.Hunk[string]) bool { return h.PosX < h.EndX && h.PosY < h.EndY }

func blank(tokens []string) bool {
	for _, t := range tokens {
		if strings.Trim(t, " \t") != "" {
			return false
		}
	}
	return true
}

// alike reports whether the texts have at least a sixth of the shorter one in common,
// blanks and signs not counted.
func alike(x, y []string, hunks []diff.Hunk[string]) bool {
	own, all := 0, letters(x)
	for _, h := range hunks {
		own += letters(x[h.PosX:h.EndX])
	}
	return len(hunks) == 0 || 6*(all-own) >= min(all, letters(y))
}

// letters counts the bytes of words.
func letters(tokens []string) (n int) {
	for _, t := range tokens {
		if r, _ := utf8.DecodeRuneInString(t); ofWord(r) || len(t) > 4 {
			n += len(t)
		}
	}
	return n
}

// compareEnds takes the lines that both texts begin and end with for the same and the
// rest for different, in one pass.
func compareEnds(a, b string) (x, y []span) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	n = strings.LastIndexByte(a[:n], '\n') + 1
	m := 0
	for m < min(len(a), len(b))-n && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	if i := strings.IndexByte(a[len(a)-m:], '\n'); i >= 0 {
		m -= i + 1
	} else {
		m = 0
	}
	return ends(a, n, m), ends(b, n, m)
}

func ends(s string, head, tail int) (spans []span) {
	for _, part := range []span{{s[:head], false}, {s[head : len(s)-tail], true}, {s[len(s)-tail:], false}} {
		if part.Text != "" {
			spans = append(spans, part)
		}
	}
	return spans
}

// words cuts a text into words, runs of blanks, and single signs.
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

// linesOf cuts a text into lines, each with its end.
func linesOf(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}
