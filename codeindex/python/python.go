// Package python finds the definitions and imports of Python files. Its records are those of Python's
// ast module; Parser says which errors it finds.
package python

import (
	"math"

	"golang.org/x/text/unicode/norm"

	"relabel/codeindex"
)

// A Parser finds the definitions and imports of Python 3 files. A definition begins with its first
// decorator. The files that it counts as Syntax or Python2 do not parse as Python 3: it follows the
// grammar of Python 3.15 by its tokens, brackets, indents, clauses, expressions and targets. It does
// not see repeated parameters, names of characters in \N{…}, keywords in patterns that would be
// expressions, or what only the compiler refuses, such as return outside of a function. A file with an
// error has the definitions of its other lines; those of Python 2 files are right. The zero Parser is
// ready for use.
type Parser struct{}

// A file parser collects the records of a file.
type fileParser struct {
	scanner
	out       codeindex.Records
	open      []openDefinition // by depth
	decorator int32            // line of the first decorator before the definition that comes
	last      int32            // line of the last token
	names     int              // bytes that the names of definitions may have
}

type openDefinition struct {
	index, col int
}

// Parse implements codeindex.Parser.
func (Parser) Parse(_ string, source []byte) codeindex.Records {
	if len(source) > math.MaxInt32/4 {
		return codeindex.Records{Problem: codeindex.TooLarge}
	}
	text, isText := decode(source)
	p := fileParser{scanner: scanner{src: text, line: 1}, names: 1<<16 + 16*len(text)}
	var check checker
	for p.next() {
		p.logicalLine()
		check.line(&p.scanner)
	}
	p.close(-1)
	check.finish()
	p.add(check.verdict)
	if p.tooLong {
		p.out.Problem = codeindex.TooLarge
	}
	if p.out.Problem == "" {
		p.out.Problem = p.problem()
	}
	if !isText {
		p.out.Problem = codeindex.NotText
	}
	return p.out
}

// logicalLine takes what the logical line defines or imports.
func (p *fileParser) logicalLine() {
	p.close(p.col)
	first := p.tokens[0]
	if first.kind == '@' {
		if p.decorator == 0 {
			p.decorator = first.line
		}
	} else {
		p.definition(first)
		p.decorator = 0
	}
	if p.imports {
		p.importStatements()
	}
	if n := len(p.tokens); n > 1 {
		p.last = p.tokens[n-2].end
		if p.tokens[n-2].kind != ':' {
			p.close(p.col) // a definition in one line
		}
	}
}

// close ends the definitions that are indented by as much as a column, or more.
func (p *fileParser) close(col int) {
	for n := len(p.open); n > 0 && p.open[n-1].col >= col; n-- {
		p.out.Definitions[p.open[n-1].index].End = int(p.last)
		p.open = p.open[:n-1]
	}
}

// definition begins the definition of the line, if it is one.
func (p *fileParser) definition(first token) {
	header := p.tokens
	if first.kind == kAsync {
		header = header[1:]
	}
	if k := header[0].kind; k != kDef && k != kClass || !header[1].isNameOfPython2() {
		return
	}
	definition := codeindex.Definition{Kind: codeindex.Class, Name: p.name(header[1])}
	if header[0].kind == kDef {
		definition.Kind = codeindex.Function
	}
	if n := len(p.open); n > 0 {
		outer := p.out.Definitions[p.open[n-1].index]
		if outer.Kind == codeindex.Class && definition.Kind == codeindex.Function {
			definition.Kind = codeindex.Method
		}
		definition.Name = outer.Name + "." + definition.Name
	}
	p.names -= len(definition.Name)
	if p.names < 0 {
		p.out.Problem = codeindex.TooLarge
		return
	}
	definition.Start = int(first.line)
	if p.decorator > 0 {
		definition.Start = int(p.decorator)
	}
	p.open = append(p.open, openDefinition{index: len(p.out.Definitions), col: p.col})
	p.out.Definitions = append(p.out.Definitions, definition)
}

// name returns the name that Python knows the token by.
func (p *fileParser) name(t token) string {
	return norm.NFKC.String(string(p.src[t.from:t.to]))
}

// isNameOfPython2 reports whether the token is a name of Python 3 or was one before.
func (t token) isNameOfPython2() bool {
	switch t.kind {
	case kName, kAsync, kAwait, kNonlocal, kTrue, kFalse:
		return true
	}
	return false
}

// importStatements takes the imports of the line: a statement has the word import only in imports.
func (p *fileParser) importStatements() {
	start := int32(0)
	for i := 0; i < len(p.tokens); i++ {
		switch t := p.tokens[i]; t.kind {
		case kFrom:
			start = t.line
		case ';', ':':
			start = 0
		case kImport:
			if start == 0 {
				start = t.line
			}
			for p.tokens[i+1].kind != kEnd && p.tokens[i+1].kind != ';' {
				i++
			}
			span := codeindex.Span{Start: int(start), End: int(p.tokens[i].end)}
			p.out.Imports = append(p.out.Imports, codeindex.Import{Span: span})
		}
	}
}
