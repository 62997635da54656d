package tokenizer

import (
	"fmt"
	"iter"
	"unicode/utf8"
)

// pattern is a regular expression for which there is no scanner. It matches as
// Oniguruma does, which the reference uses: by backtracking, the first alternative that
// leads to a match, not the longest.
type pattern struct {
	program []instruction
}

// compilePattern parses an expression, or returns an error that names the unsupported part.
func compilePattern(source string) (finder, error) {
	p := &patternParser{source: source}
	tree, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.at < len(source) {
		return nil, p.refuse("a closing bracket without an opening one")
	}
	c := patternCompiler{}
	if err := c.compile(tree); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", source, err)
	}
	c.emit(instruction{op: opMatch})
	return &pattern{c.program}, nil
}

// all finds matches as the reference's iterator does: each search begins at the end of
// the match before, and an empty match right there is passed over.
func (p *pattern) all(text string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		m := matcher{text: text}
		last := -1
		for from := 0; from <= len(text); {
			start, end := m.search(p.program, from)
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
