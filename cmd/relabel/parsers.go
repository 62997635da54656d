package main

import (
	"relabel/codeindex"
	"relabel/codeindex/golang"
	"relabel/codeindex/python"
)

// parsers are the parsers of source files, by language.
type parsers map[codeindex.Language]codeindex.Parser

// openParsers returns the parsers.
func openParsers() parsers {
	return parsers{codeindex.Python: python.Parser{}, codeindex.Go: golang.Parser{}}
}

// Parser returns the parser of a language, nil without one.
func (p parsers) Parser(l codeindex.Language) codeindex.Parser { return p[l] }

// Version is the version of a language's parser.
func (p parsers) Version(codeindex.Language) int { return 1 }
