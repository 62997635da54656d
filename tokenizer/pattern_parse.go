package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// treeKind is the kind of a node of an expression.
type treeKind int

const (
	treeSet         treeKind = iota // one character of a set
	treeSequence                    // all parts in turn
	treeAlternative                 // the first part that leads to a match
	treeRepeat                      // the part, low to high times
	treeLook                        // whether the part matches here; inverted if negative
	treeAtomic                      // only the part's first match
	treeAssert                      // a condition on the position
)

// tree is a node of an expression.
type tree struct {
	kind      treeKind
	parts     []*tree
	set       charSet
	low, high int // high −1: unlimited
	lazy      bool
	negative  bool
	behind    bool
	assertion byte
	folded    rune // the lower-case letter of a literal whose case is ignored, else 0
}

// patternParser parses the supported part of Oniguruma's syntax.
type patternParser struct {
	source string
	at     int
	fold   bool
}

// refuse returns the refusal of what begins at the current position.
func (p *patternParser) refuse(format string, args ...any) refusal {
	return refusal{fmt.Errorf("pattern %q, at byte %d: %s is not supported", p.source, p.at, fmt.Sprintf(format, args...))}
}

func (p *patternParser) more() bool { return p.at < len(p.source) }

// take skips text and reports whether it was there.
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

func (p *patternParser) alternatives() *tree {
	t := &tree{kind: treeAlternative, parts: []*tree{p.sequence()}}
	for p.take("|") {
		t.parts = append(t.parts, p.sequence())
	}
	return t
}

func (p *patternParser) sequence() *tree {
	t := &tree{kind: treeSequence}
	for p.more() && p.source[p.at] != '|' && p.source[p.at] != ')' {
		atom := p.repeats(p.atom())
		if n := len(t.parts); n > 0 && foldsTogether(t.parts[n-1].folded, atom.folded) {
			panic(p.refuse("case folding of %c and %c, which one character may stand for,", t.parts[n-1].folded, atom.folded))
		}
		t.parts = append(t.parts, atom)
	}
	return t
}

// foldsTogether reports whether there is one character whose case folding is these two
// letters, like the sharp s or a ligature.
func foldsTogether(a, b rune) bool {
	return a == 's' && (b == 's' || b == 't') || a == 'f' && (b == 'f' || b == 'i' || b == 'l')
}

func (p *patternParser) atom() *tree {
	switch c := p.source[p.at]; c {
	case '(':
		return p.group()
	case '[':
		return &tree{kind: treeSet, set: p.folded(p.class(), "a class beyond ASCII")}
	case '.':
		p.at++
		return &tree{kind: treeSet, set: setOf('\n').complement()}
	case '^', '$':
		p.at++
		return &tree{kind: treeAssert, assertion: c}
	case '*', '+', '?', '{':
		panic(p.refuse("a repetition of nothing"))
	case '\\':
		return p.escaped()
	}
	return p.literal(p.rune())
}

// folded adds the other case of a set's letters if case is ignored.
func (p *patternParser) folded(set charSet, what string) charSet {
	if !p.fold {
		return set
	}
	folded, ok := set.foldedASCII()
	if !ok {
		panic(p.refuse("case folding of %s", what))
	}
	return folded
}

func (p *patternParser) literal(r rune) *tree {
	t := &tree{kind: treeSet, set: p.folded(setOf(r), strconv.QuoteRune(r))}
	if lower := r | 0x20; p.fold && lower >= 'a' && lower <= 'z' {
		t.folded = lower
	}
	return t
}

// escaped parses an escape sequence outside of a class.
func (p *patternParser) escaped() *tree {
	for _, a := range []byte{'A', 'z', 'Z', 'b', 'B'} {
		if p.take(`\` + string(a)) {
			return &tree{kind: treeAssert, assertion: a}
		}
	}
	set, single := p.escape("patternword")
	if single >= 0 {
		return p.literal(single)
	}
	return &tree{kind: treeSet, set: set}
}

// group parses a group or a look-around.
func (p *patternParser) group() *tree {
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
		panic(p.refuse("%q", p.source[p.at:min(p.at+4, len(p.source))]))
	default:
		p.at++
	}
	t.parts = []*tree{p.alternatives()}
	if !p.take(")") {
		panic(p.refuse("an unclosed bracket"))
	}
	return t
}

// repeats parses the repetition after an atom.
func (p *patternParser) repeats(atom *tree) *tree {
	low, high, interval := 0, -1, false
	switch {
	case p.take("*"):
	case p.take("+"):
		low = 1
	case p.take("?"):
		high = 1
	case p.take("{"):
		low, high = p.interval()
		interval = true
	default:
		return atom
	}
	if atom.kind == treeLook || atom.kind == treeAssert {
		panic(p.refuse("a repetition of an assertion"))
	}
	t := &tree{kind: treeRepeat, parts: []*tree{atom}, low: low, high: high}
	switch {
	case p.take("?"):
		if interval {
			panic(p.refuse("a lazy interval"))
		}
		t.lazy = true
	case interval && p.take("+"): // no possessive interval in this syntax, but a repetition of it
		t = &tree{kind: treeRepeat, parts: []*tree{t}, low: 1, high: -1}
	case p.take("+"):
		t = &tree{kind: treeAtomic, parts: []*tree{t}}
	}
	if p.more() && strings.IndexByte("*+?{", p.source[p.at]) >= 0 {
		panic(p.refuse("a repetition of a repetition"))
	}
	return t
}

// maxTimes bounds how often an interval repeats its part.
const maxTimes = 1000

// interval parses n}, n,}, n,m} or ,m}.
func (p *patternParser) interval() (low, high int) {
	text, _, closed := strings.Cut(p.source[p.at:], "}")
	first, second, two := strings.Cut(text, ",")
	low, okLow := decimal(first)
	high, okHigh := decimal(second)
	switch {
	case !closed || !okLow && (first != "" || !two) || !okHigh && second != "" || two && first == "" && second == "":
		panic(p.refuse("an interval other than {n,m}"))
	case !two:
		high = low
	case second == "":
		high = -1
	}
	if low > maxTimes || high > maxTimes || high >= 0 && high < low || high == 0 {
		panic(p.refuse("an interval of %d to %d", low, high))
	}
	p.at += len(text) + 1
	return low, high
}

func decimal(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil
}
