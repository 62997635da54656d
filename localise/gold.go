package localise

import (
	"strings"

	"relabel/codeindex"
)

// change is a source file of the base with what a change makes of it.
type change struct {
	language   codeindex.Language
	base, head text
	baseIndex  codeindex.Records
	headIndex  codeindex.Records
	edits      []edit
}

// gold is what a change modifies of a file.
type gold struct {
	code  bool            // it changes more than comments and blank lines
	names map[string]bool // functions of the base
	added map[string]bool // functions that the base lacks
}

// side is one of the two versions of a file.
type side struct {
	functions []codeindex.Definition
	names     map[string]bool
	code      []bool           // by line
	lines     []codeindex.Span // the lines of the index that a line of git is; nil: the one with its number
}

func newSide(language codeindex.Language, t text, records codeindex.Records) side {
	content := t.String()
	s := side{names: map[string]bool{}, code: codeLines(language, content), lines: indexLines(language, t, content)}
	for _, d := range records.Definitions {
		if d.Kind != codeindex.Class {
			s.functions = append(s.functions, d)
			s.names[d.Name] = true
		}
	}
	return s
}

// indexLines returns the lines of the index that each line of git is, nil if their numbers are equal. In
// some languages a line may end with other characters than git's.
func indexLines(language codeindex.Language, t text, content string) []codeindex.Span {
	if !strings.ContainsAny(content, "\r\u2028\u2029") {
		return nil
	}
	spans := make([]codeindex.Span, len(t.lines))
	next := 1
	for i, line := range t.lines {
		n := max(1, len(codeindex.Lines(language, []byte(line+"\n"))))
		spans[i] = codeindex.Span{Start: next, End: next + n - 1}
		next += n
	}
	return spans
}

// span is a line of git, from 0, as lines of the index.
func (s side) span(line int) codeindex.Span {
	switch {
	case s.lines == nil:
		return codeindex.Span{Start: line + 1, End: line + 1}
	case line < 0:
		return codeindex.Span{}
	case line >= len(s.lines): // after the end
		return codeindex.Span{Start: s.lines[len(s.lines)-1].End + 1, End: s.lines[len(s.lines)-1].End + 1}
	}
	return s.lines[line]
}

// innermost returns the functions with a line of the span that have no function inside with such a line.
func (s side) innermost(lines codeindex.Span) (found []codeindex.Definition) {
	var touched []codeindex.Definition
	for _, d := range s.functions {
		if d.Start <= lines.End && d.End >= lines.Start {
			touched = append(touched, d)
		}
	}
	return withoutOuter(touched)
}

// enclosing returns the innermost functions that contain all lines from one to another.
func (s side) enclosing(from, to codeindex.Span) []codeindex.Definition {
	var around []codeindex.Definition
	for _, d := range s.functions {
		if d.Start <= from.Start && to.End <= d.End {
			around = append(around, d)
		}
	}
	return withoutOuter(around)
}

// withoutOuter drops the functions that have another one of them inside. Of two on the same lines the names
// tell. One line may have many thousand functions.
func withoutOuter(functions []codeindex.Definition) (inner []codeindex.Definition) {
	outer := map[codeindex.Span]map[string]bool{} // the names with another one inside, by lines
	for _, d := range functions {
		if outer[d.Span] == nil {
			outer[d.Span] = map[string]bool{}
		}
		for i, c := range d.Name {
			if c == '.' {
				outer[d.Span][d.Name[:i]] = true
			}
		}
	}
	around := map[codeindex.Span]bool{} // with other lines inside
	for lines := range outer {
		for others := range outer {
			if others != lines && lines.Start <= others.Start && others.End <= lines.End {
				around[lines] = true
			}
		}
	}
	for _, d := range functions {
		if !around[d.Span] && !outer[d.Span][d.Name] {
			inner = append(inner, d)
		}
	}
	return inner
}

// gold finds what the change modifies. Lines of the base that are removed or replaced modify the
// innermost function around them. Lines of the head that are added or replace others modify the
// innermost function around them in the head if the base has it, else the one around the place in the
// base. Comments and blank lines modify nothing.
func (c change) gold() gold {
	base, head := newSide(c.language, c.base, c.baseIndex), newSide(c.language, c.head, c.headIndex)
	g := gold{names: map[string]bool{}, added: map[string]bool{}}
	for _, e := range c.edits {
		for line := e.base; line < e.end; line++ {
			if base.code[line] {
				g.modify(base.innermost(base.span(line)))
			}
		}
		for line := e.headBase; line < e.headEnd; line++ {
			if head.code[line] && !g.insert(base, head.innermost(head.span(line))) {
				g.modify(base.around(e))
			}
		}
	}
	return g
}

// around returns the functions of the base around the place of an edit.
func (s side) around(e edit) []codeindex.Definition {
	if e.base == e.end {
		return s.enclosing(s.span(e.base-1), s.span(e.base))
	}
	return s.enclosing(s.span(e.base), s.span(e.end-1))
}

func (g *gold) modify(functions []codeindex.Definition) {
	g.code = true
	for _, d := range functions {
		g.names[d.Name] = true
	}
}

// insert modifies those functions of the head that the base has. It reports whether there are any.
func (g *gold) insert(base side, functions []codeindex.Definition) (found bool) {
	g.code = true
	for _, d := range functions {
		if base.names[d.Name] {
			g.names[d.Name] = true
			found = true
		} else {
			g.added[d.Name] = true
		}
	}
	return found
}
