package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// treeKind is what a node of an expression is.
type treeKind int

const (
	treeSet         treeKind = iota // one character of a set
	treeSequence                    // all parts in turn
	treeAlternative                 // the first part that leads to a match
	treeRepeat                      // the part, low to high times
	treeLook                        // whether the part matches here, or does not
	treeAtomic                      // the part's first match and no other
	treeAssert                      // a place
)

// tree is a node of an expression.
type tree struct {
	kind      treeKind
	parts     []*tree
	set       charSet
	low, high int // high −1 is without end
	lazy      bool
	negative  bool
	behind    bool
	assertion byte
	folded    rune // the small letter of a literal whose case does not count, else 0
}

// patternParser reads the part of Oniguruma's syntax that is known here.
type patternParser struct {
	source string
	at     int
	fold   bool
}

func (p *patternParser) refuse(format string, args ...any) error {
	return fmt.Errorf("pattern %q, at byte %d: %s is not known", p.source, p.at, fmt.Sprintf(format, args...))
}

func (p *patternParser) more() bool { return p.at < len(p.source) }

// take moves past text where it stands here.
func (p *patternParser) take(text string) bool {
	if !strings.HasPrefix(p.source[p.at:], text) {
		return false
	}
	p.at += len(text)
	return true
}

func (p *patternParser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.source[p.at:])
	p.at += n
	return r
}

func (p *patternParser) alternatives() (*tree, error) {
	t := &tree{kind: treeAlternative}
	for {
		part, err := p.sequence()
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part)
		if !p.take("|") {
			return t, nil
		}
	}
}

func (p *patternParser) sequence() (*tree, error) {
	t := &tree{kind: treeSequence}
	for p.more() && p.source[p.at] != '|' && p.source[p.at] != ')' {
		atom, err := p.atom()
		if err != nil {
			return nil, err
		}
		if atom, err = p.repeats(atom); err != nil {
			return nil, err
		}
		if n := len(t.parts); n > 0 && foldsTogether(t.parts[n-1].folded, atom.folded) {
			return nil, p.refuse("case folding of %c and %c, which one character may stand for,", t.parts[n-1].folded, atom.folded)
		}
		t.parts = append(t.parts, atom)
	}
	return t, nil
}

// foldsTogether reports whether there is one character whose case folding is these two
// letters, like the sharp s or a ligature.
func foldsTogether(a, b rune) bool {
	return a == 's' && (b == 's' || b == 't') || a == 'f' && (b == 'f' || b == 'i' || b == 'l')
}

func (p *patternParser) atom() (*tree, error) {
	switch c := p.source[p.at]; c {
	case '(':
		return p.group()
	case '[':
		set, err := p.class()
		if err == nil && p.fold {
			var ok bool
			if set, ok = set.foldedASCII(); !ok {
				err = p.refuse("case folding of a class beyond ASCII")
			}
		}
		return &tree{kind: treeSet, set: set}, err
	case '.':
		p.at++
		return &tree{kind: treeSet, set: setOf('\n').complement()}, nil
	case '^', '$':
		p.at++
		return &tree{kind: treeAssert, assertion: c}, nil
	case '*', '+', '?', '{':
		return nil, p.refuse("a repetition of nothing")
	case '\\':
		return p.escaped()
	}
	return p.literal(p.rune())
}

func (p *patternParser) literal(r rune) (*tree, error) {
	t := &tree{kind: treeSet, set: setOf(r)}
	if !p.fold {
		return t, nil
	}
	var ok bool
	if t.set, ok = t.set.foldedASCII(); !ok {
		return nil, p.refuse("case folding of %q", r)
	}
	if lower := r | 0x20; lower >= 'a' && lower <= 'z' {
		t.folded = lower
	}
	return t, nil
}

// escaped reads what begins with a backslash outside of a class.
func (p *patternParser) escaped() (*tree, error) {
	for _, a := range []byte{'A', 'z', 'Z', 'b', 'B'} {
		if p.take(`\` + string(a)) {
			return &tree{kind: treeAssert, assertion: a}, nil
		}
	}
	set, single, err := p.escape("patternword")
	if err != nil {
		return nil, err
	}
	if single >= 0 {
		return p.literal(single)
	}
	return &tree{kind: treeSet, set: set}, nil
}

// group reads what begins with a bracket.
func (p *patternParser) group() (*tree, error) {
	fold := p.fold
	defer func() { p.fold = fold }()
	t := &tree{kind: treeSequence}
	switch {
	case p.take("(?:"):
	case p.take("(?i:"):
		p.fold = true
	case p.take("(?-i:"):
		p.fold = false
	case p.take("(?="):
		t = &tree{kind: treeLook}
	case p.take("(?!"):
		t = &tree{kind: treeLook, negative: true}
	case p.take("(?<="):
		t = &tree{kind: treeLook, behind: true}
	case p.take("(?<!"):
		t = &tree{kind: treeLook, behind: true, negative: true}
	case p.take("(?>"):
		t = &tree{kind: treeAtomic}
	case strings.HasPrefix(p.source[p.at:], "(?"):
		return nil, p.refuse("%q", p.source[p.at:min(p.at+4, len(p.source))])
	default:
		p.at++
	}
	inner, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.refuse("a bracket without its end")
	}
	t.parts = []*tree{inner}
	return t, nil
}

// repeats reads the repetitions after an atom.
func (p *patternParser) repeats(atom *tree) (*tree, error) {
	low, high, interval, found, err := p.repetition()
	if err != nil || !found {
		return atom, err
	}
	if atom.kind == treeLook || atom.kind == treeAssert {
		return nil, p.refuse("a repetition of a place")
	}
	t := &tree{kind: treeRepeat, parts: []*tree{atom}, low: low, high: high}
	switch {
	case p.take("?"):
		if interval {
			return nil, p.refuse("an interval that takes as little as it can")
		}
		t.lazy = true
	case interval && p.take("+"): // no possessive interval in this syntax, but a repetition of it
		t = &tree{kind: treeRepeat, parts: []*tree{t}, low: 1, high: -1}
	case p.take("+"):
		t = &tree{kind: treeAtomic, parts: []*tree{t}}
	}
	if p.more() && strings.IndexByte("*+?{", p.source[p.at]) >= 0 {
		return nil, p.refuse("a repetition of a repetition")
	}
	return t, nil
}

func (p *patternParser) repetition() (low, high int, interval, found bool, err error) {
	switch {
	case p.take("*"):
		return 0, -1, false, true, nil
	case p.take("+"):
		return 1, -1, false, true, nil
	case p.take("?"):
		return 0, 1, false, true, nil
	case p.take("{"):
		low, high, err = p.interval()
		return low, high, true, true, err
	}
	return 0, 0, false, false, nil
}

// maxTimes bounds how often an interval repeats its part.
const maxTimes = 1000

// interval reads n}, n,}, n,m} or ,m}.
func (p *patternParser) interval() (low, high int, err error) {
	text, _, closed := strings.Cut(p.source[p.at:], "}")
	first, second, two := strings.Cut(text, ",")
	low, okLow := decimal(first)
	high, okHigh := decimal(second)
	switch {
	case !closed || !okLow && (first != "" || !two) || !okHigh && second != "" || two && first == "" && second == "":
		return 0, 0, p.refuse("an interval other than {n,m}")
	case !two:
		high = low
	case second == "":
		high = -1
	}
	if low > maxTimes || high > maxTimes || high >= 0 && high < low || high == 0 {
		return 0, 0, p.refuse("an interval of %d to %d", low, high)
	}
	p.at += len(text) + 1
	return low, high, nil
}

func decimal(s string) (int, bool) {
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > maxTimes {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, s != ""
}
