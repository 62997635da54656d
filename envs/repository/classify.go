package repository

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"relabel/codeindex"
)

// source is a source file of a commit.
type source struct {
	Entry
	key codeindex.Key
}

// classify returns the source files among entries, and counts the others.
func (x *Indexer) classify(entries []Entry) ([]source, map[codeindex.Skipped]int) {
	var sources []source
	skipped := map[codeindex.Skipped]int{}
	for _, e := range entries {
		switch {
		case e.Submodule():
			skipped[codeindex.Submodule]++
		case e.Symlink():
			skipped[codeindex.Symlink]++
		case badPath(e.Path):
			skipped[codeindex.BadPath]++
		case codeindex.LanguageOf(e.Path) == "":
			skipped[codeindex.NotSource]++
		default:
			sources = append(sources, source{e, codeindex.Key{Blob: e.Blob, Language: codeindex.LanguageOf(e.Path)}})
		}
	}
	decideHeaders(sources)
	for i := range sources {
		sources[i].key.Version = x.Parsers.Version(sources[i].key.Language, sources[i].Path)
	}
	return sources, skipped
}

func badPath(path string) bool {
	return !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl)
}

// decideHeaders makes the .h files C++ if the commit has more other files of C++ than of C.
func decideHeaders(sources []source) {
	balance := 0
	header := func(s source) bool { return s.key.Language == codeindex.C && strings.EqualFold(path.Ext(s.Path), ".h") }
	for _, s := range sources {
		switch {
		case s.key.Language == codeindex.CPP:
			balance++
		case s.key.Language == codeindex.C && !header(s):
			balance--
		}
	}
	for i := range sources {
		if balance > 0 && header(sources[i]) {
			sources[i].key.Language = codeindex.CPP
		}
	}
}
