package tokenizer

import (
	"iter"
	"unicode/utf8"
)

// pattern is a compiled regular expression without a scanner. It matches like Oniguruma, which
// the reference uses: by backtracking, and the first alternative that leads to a match wins.
type pattern []instruction

// compilePattern parses an expression, or returns an error that names the unsupported part.
func compilePattern(source string) (_ finder, err error) {
	defer rescue(&err)
	p := &patternParser{source: source}
	tree := p.alternatives()
	if p.more() {
		panic(p.refuse("a closing bracket without an opening one"))
	}
	return pattern(compileProgram(source, tree)), nil
}

// all yields matches like the reference's iterator: each search starts at the end of the
// previous match and skips an empty match there.
func (p pattern) all(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		m := matcher{text: text}
		last := -1
		for from := 0; from <= len(text); {
			start, end := m.search(p, from)
			if start < 0 {
				return
			}
			if start == end && end == last {
				_, size := utf8.DecodeRuneInString(text[from:])
				from += max(size, 1)
				continue
			}
			from, last = end, end
			if !yield(Span{start, end}) {
				return
			}
		}
	}
}
