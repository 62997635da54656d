package treesitter

import (
	"bytes"
	"regexp"

	"relabel/codeindex"
)

// classMacro is a macro between class and the name of the class, which the grammars do not know:
// class EXPORT Name final : public Base {
var classMacro = regexp.MustCompile(`\b(?:class|struct|union)\s+([A-Z_][A-Z0-9_]+(?:\([^()\n]*\))?)\s+[A-Za-z_][\w:]*(?:<[^<>{};]*>)?(?:\s+final)?\s*[:{]`)

// prepared returns a source of the same length that the program reads better.
func prepared(language codeindex.Language, source []byte) []byte {
	switch language {
	case codeindex.C, codeindex.CPP:
		return withoutClassMacros(source)
	case codeindex.Java, codeindex.PHP:
		return withLineFeeds(source)
	}
	return source
}

// withoutClassMacros writes spaces instead of macros between class and its name.
func withoutClassMacros(source []byte) []byte {
	found := classMacro.FindAllSubmatchIndex(source, -1)
	if found == nil {
		return source
	}
	source = bytes.Clone(source)
	for _, f := range found {
		for i := f[2]; i < f[3]; i++ {
			source[i] = ' '
		}
	}
	return source
}

// withLineFeeds writes a line feed for each carriage return that ends a line alone. The grammars only
// know line feeds; Java and PHP end a line at either.
func withLineFeeds(source []byte) []byte {
	if bytes.IndexByte(source, '\r') < 0 {
		return source
	}
	source = bytes.Clone(source)
	for i, c := range source {
		if c == '\r' && (i+1 == len(source) || source[i+1] != '\n') {
			source[i] = '\n'
		}
	}
	return source
}
