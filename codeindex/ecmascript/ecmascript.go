// Package ecmascript parses JavaScript and TypeScript, with JSX, in children that run
// relabel-ecmascript (syntax). What counts: see docs/localisation.md, Languages.
package ecmascript

import (
	"path"
	"strings"

	"relabel/codeindex"
	"relabel/codeindex/children"
)

// The languages of the program.
const (
	javaScript = 0 // with JSX
	typeScript = 1
	tsx        = 2
)

// Find returns the path of relabel-ecmascript: see children.Find.
func Find(dir string) (string, error) {
	return children.Find(dir, "relabel-ecmascript", "relabel-ecmascript/2")
}

// Parser parses JavaScript and TypeScript in the pool's children.
type Parser struct {
	Pool *children.Pool
}

// Parse implements codeindex.Parser. A file with Syntax errors has the records around them.
func (p Parser) Parse(name string, source []byte) codeindex.Records {
	return p.Pool.Parse(languageOf(name), source)
}

// Parts returns the parts of a file's functions. A file with Syntax errors has none.
func (p Parser) Parts(name string, source []byte) codeindex.Parts {
	return p.Pool.Parts(languageOf(name), source)
}

// languageOf returns the language that TypeScript reads a file in.
func languageOf(name string) byte {
	switch strings.ToLower(path.Ext(name)) {
	case ".ts", ".mts", ".cts":
		return typeScript
	case ".tsx":
		return tsx
	}
	return javaScript
}
