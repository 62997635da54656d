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

// Language returns the language of a path.
func (p parsers) Language(path string) (codeindex.Language, bool) {
	l := codeindex.LanguageOf(path)
	return l, l != ""
}

// Version is the version of a language's parser.
func (p parsers) Version(codeindex.Language) int { return 1 }

// Parse parses a file.
func (p parsers) Parse(l codeindex.Language, path string, source []byte) codeindex.Records {
	parser := p[l]
	if parser == nil {
		return codeindex.Records{Problem: codeindex.NoParser}
	}
	return parser.Parse(path, source)
}
