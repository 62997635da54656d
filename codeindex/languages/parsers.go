// Package languages has the parsers of all languages.
package languages

import (
	"path"
	"strings"

	"relabel/codeindex"
	"relabel/codeindex/children"
	"relabel/codeindex/ecmascript"
	"relabel/codeindex/golang"
	"relabel/codeindex/python"
	"relabel/codeindex/treesitter"
)

// versions are those of the parsers' records. A change of records, for which a new version of a
// grammar is enough, needs the next number.
var versions = map[codeindex.Language]int{
	codeindex.Python: 1, codeindex.Go: 1, codeindex.JavaScript: 1, codeindex.TypeScript: 1, codeindex.Java: 1,
	codeindex.Rust: 1, codeindex.C: 1, codeindex.CPP: 1, codeindex.Ruby: 1, codeindex.PHP: 1,
}

// Parsers has the parser of each language. It is safe for concurrent use.
type Parsers struct {
	pools   []*children.Pool
	parsers map[codeindex.Language]codeindex.Parser
}

// Open returns the parsers. Those of some languages run in programs in the folder: dir,
// $RELABEL_PARSERS, or that of this program. Languages whose program is missing have no parser;
// missing says which program, and why.
func Open(dir string) (p *Parsers, missing []error) {
	p = &Parsers{parsers: map[codeindex.Language]codeindex.Parser{
		codeindex.Python: python.Parser{},
		codeindex.Go:     golang.Parser{},
	}}
	if path, err := ecmascript.Find(dir); err != nil {
		missing = append(missing, err)
	} else {
		pool := p.pool(path)
		p.parsers[codeindex.JavaScript] = ecmascript.Parser{Pool: pool}
		p.parsers[codeindex.TypeScript] = ecmascript.Parser{Pool: pool}
	}
	if path, err := treesitter.Find(dir); err != nil {
		missing = append(missing, err)
	} else {
		pool := p.pool(path)
		for _, l := range treesitter.Languages {
			p.parsers[l] = treesitter.Parser{Language: l, Pool: pool}
		}
	}
	return p, missing
}

func (p *Parsers) pool(path string) *children.Pool {
	pool := children.New(path)
	p.pools = append(p.pools, pool)
	return pool
}

// Parser returns the parser of a language, nil if it is not installed.
func (p *Parsers) Parser(l codeindex.Language) codeindex.Parser { return p.parsers[l] }

// Parts returns the parts of the functions of a file in Go, JavaScript or TypeScript. In other languages, or
// if the parser is not installed, its problem is NoParser.
func (p *Parsers) Parts(name string, source []byte) codeindex.Parts {
	parser, ok := p.parsers[codeindex.LanguageOf(name)].(interface {
		Parts(name string, source []byte) codeindex.Parts
	})
	if !ok {
		return codeindex.Parts{Problem: codeindex.NoParser}
	}
	return parser.Parts(name, source)
}

// Version changes with the records that the parser of a language returns for the same source in a file
// of this path. In TSX a source may mean something else than in TypeScript, so it has the negative ones.
func (p *Parsers) Version(l codeindex.Language, name string) int {
	if strings.EqualFold(path.Ext(name), ".tsx") {
		return -versions[l]
	}
	return versions[l]
}

// Close ends the programs.
func (p *Parsers) Close() {
	for _, pool := range p.pools {
		pool.Close()
	}
}
