package languages

import (
	"relabel/codeindex"
	"relabel/codeindex/children"
	"relabel/codeindex/ecmascript"
	"relabel/codeindex/treesitter"
)

// Parsers has the parser of each language. It is safe for concurrent use.
type Parsers struct {
	pools   []*children.Pool
	parsers map[codeindex.Language]codeindex.Parser
}

// Open returns the parsers. Those of some languages run in programs in the folder: dir,
// $RELABEL_PARSERS, or that of this program. Files of languages whose program is missing have the
// problem NoParser; missing says which, and why, or is nil.
func Open(dir string) (p *Parsers, missing []error) {
	find := func(find func(dir string) (string, error)) *children.Pool {
		path, err := find(dir)
		if err != nil {
			missing = append(missing, err)
		}
		return children.New(path)
	}
	script, trees := find(ecmascript.Find), find(treesitter.Find)
	p = &Parsers{pools: []*children.Pool{script, trees}, parsers: map[codeindex.Language]codeindex.Parser{
		codeindex.JavaScript: ecmascript.Parser{Pool: script},
		codeindex.TypeScript: ecmascript.Parser{Pool: script},
	}}
	for _, l := range treesitter.Languages {
		p.parsers[l] = treesitter.Parser{Language: l, Pool: trees}
	}
	return p, missing
}

// Of returns the parser of a language.
func (p *Parsers) Of(l codeindex.Language) codeindex.Parser {
	if parser := p.parsers[l]; parser != nil {
		return parser
	}
	return none{}
}

// Close ends the programs.
func (p *Parsers) Close() {
	for _, pool := range p.pools {
		pool.Close()
	}
}

// none parses nothing.
type none struct{}

func (none) Parse(string, []byte) codeindex.Records {
	return codeindex.Records{Problem: codeindex.NoParser}
}
