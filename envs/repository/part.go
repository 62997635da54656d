package repository

import (
	"context"

	"relabel/codeindex"
)

// Part returns the index of those paths of a commit, given by its full id, that are source files, as in
// its whole index, and the paths that the commit lacks. It is not kept.
func (x *Indexer) Part(ctx context.Context, name, commit string, paths []string) (part *codeindex.Index, absent []string, err error) {
	entries, err := x.Mirrors.Tree(ctx, name, commit)
	if err != nil {
		return nil, nil, err
	}
	there := make(map[string]bool, len(paths))
	for _, p := range paths {
		there[p] = false
	}
	for _, e := range entries {
		if _, wanted := there[e.Path]; wanted {
			there[e.Path] = true
		}
	}
	for _, p := range paths {
		if !there[p] {
			absent = append(absent, p)
		}
	}
	all, _ := x.classify(entries)
	var sources []source
	for _, s := range all {
		if there[s.Path] {
			sources = append(sources, s)
		}
	}
	records, err := x.records(ctx, name, sources)
	if err != nil {
		return nil, nil, err
	}
	files := make([]*codeindex.File, len(sources))
	for i, s := range sources {
		files[i] = &codeindex.File{Path: s.Path, Language: s.key.Language, Blob: s.key.Blob, Records: records[s.key]}
	}
	return codeindex.NewIndex(files, nil), absent, nil
}

// Parse returns the records of a text as those of a file of its language.
func (x *Indexer) Parse(language codeindex.Language, path string, text []byte) codeindex.Records {
	parser := x.Parsers.Parser(language)
	switch {
	case parser == nil:
		return codeindex.Records{Problem: codeindex.NoParser}
	case len(text) > maxParsed:
		return codeindex.Records{Problem: codeindex.TooLarge}
	}
	return safely(parser, path, text)
}
