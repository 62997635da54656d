package localise

import "relabel/codeindex"

// syntax is what tells comments from code in a language.
type syntax struct {
	comments []string // what begins a comment up to the end of the line
	block    [2]string
	nested   bool    // blocks contain blocks
	quotes   []quote // the longer ones first
	special  []func(*scanner) bool
}

// quote is a kind of string. A string that may not have several lines ends with its line.
type quote struct {
	open, end string
	lines     bool
	raw       bool // a backslash is a character as others
}

var (
	single = quote{open: "'", end: "'"}
	double = quote{open: `"`, end: `"`}
	cBlock = [2]string{"/*", "*/"}
)

var script = syntax{comments: []string{"//"}, block: cBlock, quotes: []quote{single, double}, special: []func(*scanner) bool{(*scanner).template, (*scanner).regexp}}

var cLike = syntax{comments: []string{"//"}, block: cBlock, quotes: []quote{single, double}, special: []func(*scanner) bool{(*scanner).cppRaw}}

var syntaxes = map[codeindex.Language]syntax{
	codeindex.Python: {comments: []string{"#"}, quotes: []quote{
		{open: `"""`, end: `"""`, lines: true}, {open: "'''", end: "'''", lines: true}, single, double}},
	codeindex.Go:         {comments: []string{"//"}, block: cBlock, quotes: []quote{single, double, {open: "`", end: "`", lines: true, raw: true}}},
	codeindex.JavaScript: script,
	codeindex.TypeScript: script,
	codeindex.Java:       {comments: []string{"//"}, block: cBlock, quotes: []quote{{open: `"""`, end: `"""`, lines: true}, single, double}},
	codeindex.Rust: {comments: []string{"//"}, block: cBlock, nested: true, quotes: []quote{{open: `"`, end: `"`, lines: true}},
		special: []func(*scanner) bool{(*scanner).rustRaw, (*scanner).rustChar}},
	codeindex.C:    cLike,
	codeindex.CPP:  cLike,
	codeindex.Ruby: {comments: []string{"#"}, quotes: []quote{single, double}, special: []func(*scanner) bool{(*scanner).rubyBlock, (*scanner).heredoc}},
	codeindex.PHP: {comments: []string{"//", "#"}, block: cBlock, quotes: []quote{single, double},
		special: []func(*scanner) bool{(*scanner).phpAttribute, (*scanner).heredoc}},
}
