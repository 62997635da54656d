// Package treesitter parses Java, Rust, C, C++, Ruby and PHP with tree-sitter, in children that run
// relabel-parsers (program/). What counts: see docs/localisation.md, Languages.
package treesitter

import (
	"relabel/codeindex"
	"relabel/codeindex/children"
)

// numbers are the languages of the program.
var numbers = map[codeindex.Language]byte{
	codeindex.Java: 0, codeindex.Rust: 1, codeindex.C: 2, codeindex.CPP: 3, codeindex.Ruby: 4, codeindex.PHP: 5,
}

// Languages are those that the program parses.
var Languages = []codeindex.Language{codeindex.Java, codeindex.Rust, codeindex.C, codeindex.CPP, codeindex.Ruby, codeindex.PHP}

// Find returns the path of relabel-parsers: see children.Find.
func Find(dir string) (string, error) {
	return children.Find(dir, "relabel-parsers", "relabel-parsers/1")
}

// Parser parses one of Languages in the pool's children.
type Parser struct {
	Language codeindex.Language
	Pool     *children.Pool
}

// Parse implements codeindex.Parser. A file with Syntax errors has the records around them.
func (p Parser) Parse(_ string, source []byte) codeindex.Records {
	number, known := numbers[p.Language]
	if !known {
		return codeindex.Records{Problem: codeindex.NoParser}
	}
	return p.Pool.Parse(number, prepared(p.Language, source))
}
