package tokenizer

import "strings"

// controls are the letters that stand for control characters after a backslash.
var controls = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', 'a': '\a', 'e': 0x1b}

// escape reads what begins with a backslash: one character, or a set where single is −1.
// words is the class that \w stands for: within brackets it is another than without.
func (p *patternParser) escape(words string) (set charSet, single rune, err error) {
	p.at++
	if !p.more() {
		return nil, -1, p.refuse("a backslash at the end")
	}
	switch c := p.source[p.at]; c {
	case 's', 'S':
		return p.named("space", c == 'S'), -1, nil
	case 'w', 'W':
		return p.named(words, c == 'W'), -1, nil
	case 'd', 'D':
		return p.named("Nd", c == 'D'), -1, nil
	case 'p', 'P':
		set, err = p.property()
		return set, -1, err
	case 'x':
		single, err = p.hexadecimal()
		return nil, single, err
	default:
		if r, ok := controls[c]; ok {
			p.at++
			return nil, r, nil
		}
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			return nil, -1, p.refuse(`"\%c"`, c)
		}
	}
	return nil, p.rune(), nil
}

// named moves past a letter and returns the class that it stands for.
func (p *patternParser) named(name string, negative bool) charSet {
	p.at++
	set := tidy(namedRanges(name))
	if negative {
		return set.complement()
	}
	return set
}

// property reads p{Name}, P{Name} or p{^Name}.
func (p *patternParser) property() (charSet, error) {
	negative := p.source[p.at] == 'P'
	p.at++
	name, _, closed := strings.Cut(p.source[p.at:], "}")
	if !closed || !strings.HasPrefix(name, "{") {
		return nil, p.refuse("a property without braces")
	}
	bare, inverted := strings.CutPrefix(name[1:], "^")
	set, ok := property(bare)
	if !ok {
		return nil, p.refuse(`the property "%s"`, bare)
	}
	p.at += len(name) + 1
	if negative != inverted {
		return set.complement(), nil
	}
	return set, nil
}

// hexadecimal reads x{10FFFF}, or x7F up to the end of ASCII.
func (p *patternParser) hexadecimal() (rune, error) {
	p.at++
	digits := p.source[p.at:min(p.at+2, len(p.source))]
	size := len(digits)
	if strings.HasPrefix(digits, "{") {
		inner, _, closed := strings.Cut(p.source[p.at+1:], "}")
		if !closed {
			return 0, p.refuse("an unfinished code point")
		}
		digits, size = inner, len(inner)+2
	}
	value := rune(0)
	for _, c := range []byte(digits) {
		at := strings.IndexByte("0123456789abcdef", c|0x20)
		if c >= '0' && c <= '9' {
			at = int(c - '0')
		}
		if at < 0 || len(digits) > 6 {
			return 0, p.refuse("the code point %q", digits)
		}
		value = value<<4 | rune(at)
	}
	if len(digits) == 0 || size == 1 || size == 2 && value >= 0x80 || value > 0x10ffff {
		return 0, p.refuse("the code point %q", digits)
	}
	p.at += size
	return value, nil
}

// class reads [...]: a union of characters, ranges, sets and other classes, or several of
// them with && between.
func (p *patternParser) class() (charSet, error) {
	p.at++
	negative := p.take("^")
	if strings.HasPrefix(p.source[p.at:], "]") {
		return nil, p.refuse("an empty class")
	}
	var whole, union charSet
	intersected := false
	for {
		if !p.more() {
			return nil, p.refuse("a class without its end")
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
		set, err := p.classItem()
		if err != nil {
			return nil, err
		}
		union = append(union, set...)
	}
	if negative {
		if p.fold {
			if folded, ok := whole.foldedASCII(); !ok || len(folded) != len(whole) {
				return nil, p.refuse("case folding of a negated class")
			}
		}
		return whole.complement(), nil
	}
	return whole, nil
}

// classItem reads one item of a class.
func (p *patternParser) classItem() (charSet, error) {
	if strings.HasPrefix(p.source[p.at:], "[:") {
		return nil, p.refuse("a POSIX class")
	}
	if p.source[p.at] == '[' {
		return p.class()
	}
	set, first, err := p.classChar()
	if err != nil || first < 0 {
		return set, err
	}
	rest := p.source[p.at:]
	if !strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "-]") {
		return setOf(first), nil
	}
	p.at++
	if !p.more() || p.source[p.at] == '[' {
		return nil, p.refuse("a range without an end")
	}
	if _, last, err := p.classChar(); err != nil {
		return nil, err
	} else if last >= first {
		return charSet{{first, last}}, nil
	}
	return nil, p.refuse("a range that ends before it begins")
}

// classChar reads a character, or a set where it returns −1.
func (p *patternParser) classChar() (charSet, rune, error) {
	if p.source[p.at] == '\\' {
		return p.escape("classword")
	}
	r := p.rune()
	if r == '&' && strings.HasPrefix(p.source[p.at:], "&") {
		return nil, -1, p.refuse("&& here")
	}
	return nil, r, nil
}
