package tokenizer

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// controls maps the letter of an escape sequence to its control character.
var controls = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1b}

// escape parses an escape sequence: a character, or a set if single is −1. words is the class
// of \w, which differs inside and outside of brackets.
func (p *patternParser) escape(words string) (set charSet, single rune) {
	p.at++
	if !p.more() {
		panic(p.refuse("a backslash at the end"))
	}
	switch c := p.source[p.at]; c {
	case 's', 'S':
		return p.named("space", c == 'S'), -1
	case 'w', 'W':
		return p.named(words, c == 'W'), -1
	case 'd', 'D':
		return p.named("Nd", c == 'D'), -1
	case 'p', 'P':
		return p.property(), -1
	case 'x':
		return nil, p.hexadecimal()
	default:
		if r, ok := controls[c]; ok {
			p.at++
			return nil, r
		}
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			panic(p.refuse(`"\%c"`, c))
		}
	}
	return nil, p.rune()
}

// named skips a letter and returns the class of that name.
func (p *patternParser) named(name string, negative bool) charSet {
	p.at++
	set := tidy(namedRanges(name))
	if negative {
		return set.complement()
	}
	return set
}

// property parses p{Name}, P{Name} or p{^Name}.
func (p *patternParser) property() charSet {
	negative := p.source[p.at] == 'P'
	p.at++
	name, _, closed := strings.Cut(p.source[p.at:], "}")
	if !closed || !strings.HasPrefix(name, "{") {
		panic(p.refuse("a property without braces"))
	}
	bare, inverted := strings.CutPrefix(name[1:], "^")
	set, ok := property(bare)
	if !ok {
		panic(p.refuse(`the property "%s"`, bare))
	}
	p.at += len(name) + 1
	if negative != inverted {
		return set.complement()
	}
	return set
}

// hexadecimal parses x{10FFFF}, or x7F within ASCII.
func (p *patternParser) hexadecimal() rune {
	p.at++
	digits := p.source[p.at:min(p.at+2, len(p.source))]
	size := len(digits)
	if strings.HasPrefix(digits, "{") {
		inner, _, closed := strings.Cut(p.source[p.at+1:], "}")
		if !closed {
			panic(p.refuse("an unfinished code point"))
		}
		digits, size = inner, len(inner)+2
	}
	value, err := strconv.ParseUint(digits, 16, 21)
	if err != nil || len(digits) > 6 || size == 1 || size == 2 && value >= utf8.RuneSelf || value > utf8.MaxRune {
		panic(p.refuse("the code point %q", digits))
	}
	p.at += size
	return rune(value)
}

// class parses [...]: a union of characters, ranges, sets and classes, or several unions
// separated by &&.
func (p *patternParser) class() charSet {
	p.at++
	negative := p.take("^")
	if strings.HasPrefix(p.source[p.at:], "]") {
		panic(p.refuse("an empty class"))
	}
	var whole, union charSet
	intersected := false
	for {
		if !p.more() {
			panic(p.refuse("an unclosed class"))
		}
		if p.take("&&") || p.take("]") {
			if intersected {
				union = whole.intersection(tidy(union))
			}
			whole, union = tidy(union), nil
			if p.source[p.at-1] == '&' {
				intersected = true
				continue
			}
			break
		}
		union = append(union, p.classItem()...)
	}
	if !negative {
		return whole
	}
	if p.fold {
		if folded, ok := whole.foldedASCII(); !ok || len(folded) != len(whole) {
			panic(p.refuse("case folding of a negated class"))
		}
	}
	return whole.complement()
}

// classItem parses one item of a class.
func (p *patternParser) classItem() charSet {
	if strings.HasPrefix(p.source[p.at:], "[:") {
		panic(p.refuse("a POSIX class"))
	}
	if p.source[p.at] == '[' {
		return p.class()
	}
	set, first := p.classChar()
	if first < 0 {
		return set
	}
	rest := p.source[p.at:]
	if !strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "-]") {
		return setOf(first)
	}
	p.at++
	if !p.more() || p.source[p.at] == '[' {
		panic(p.refuse("a range without an end"))
	}
	_, last := p.classChar()
	if last < first {
		panic(p.refuse("a range that ends before it begins"))
	}
	return charSet{{first, last}}
}

// classChar parses a character, or a set if it returns −1.
func (p *patternParser) classChar() (charSet, rune) {
	if p.source[p.at] == '\\' {
		return p.escape("classword")
	}
	r := p.rune()
	if r == '&' && strings.HasPrefix(p.source[p.at:], "&") {
		panic(p.refuse("&& here"))
	}
	return nil, r
}
