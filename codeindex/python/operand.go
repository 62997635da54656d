package python

// operand checks an atom with its signs before and its calls, attributes and subscripts after it.
func (c *checker) operand() shape {
	signed := false
	for c.accept('-') || c.accept('+') || c.accept('~') {
		signed = true
	}
	if c.kind() == kAwait && c.awaits() {
		c.i++
		signed = true
	}
	s := c.atom()
	for {
		switch c.kind() {
		case '.':
			c.i++
			c.name()
			s = target
		case '(':
			c.i++
			c.arguments()
			s = value
		case '[':
			printed := c.printBefore()
			c.i++
			c.subscript(printed)
			s = target
		default:
			if signed {
				return value
			}
			return s
		}
	}
}

// printBefore reports whether the token follows the word print, which begins a statement.
func (c *checker) printBefore() bool {
	t := c.tokens[c.i-1]
	if string(c.src[t.from:t.to]) != "print" {
		return false
	}
	return c.i == 1 || c.tokens[c.i-2].kind == ':' || c.tokens[c.i-2].kind == ';'
}

// awaits reports whether await begins an expression here: in Python 2 it is a name.
func (c *checker) awaits() bool {
	switch next := c.ahead(); next {
	case '(', '[', kTextStart, kAwait, kEllipsis:
		return true
	default:
		return startsOperand(next)
	}
}

// atom checks what has no operator outside of brackets.
func (c *checker) atom() shape {
	switch k := c.kind(); k {
	case kName:
		c.i++
		return name | target
	case kAsync, kAwait, kNonlocal:
		c.name()
		return name | target
	case kTrue, kFalse:
		c.i++
		return plain
	case kNumber, kNone:
		c.i++
		return value
	case kEllipsis:
		c.py3 = c.py3 || c.i == 0
		c.i++
		return value
	case kString, kBytes, kTextStart:
		c.strings()
		return value
	case '(':
		c.i++
		return c.group()
	case '[':
		c.i++
		return c.listDisplay()
	case '{':
		c.i++
		c.braces()
		return value
	case '`':
		c.i++
		c.starExpressions()
		c.want('`')
		return value
	}
	c.fail()
	return value
}

// strings checks strings one after the other.
func (c *checker) strings() {
	bytes, text := false, false
	for {
		switch c.kind() {
		case kString:
			text = true
			c.i++
		case kBytes:
			bytes = true
			c.i++
		case kTextStart:
			text = true
			c.i++
			c.fields()
		default:
			c.py2 = c.py2 || bytes && text
			return
		}
	}
}

// fields checks the replacement fields of an f-string up to its end.
func (c *checker) fields() {
	for c.accept(kFieldStart) {
		c.field()
	}
	c.want(kTextEnd)
}

func (c *checker) field() {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxDepth {
		c.i = len(c.tokens) - 1
		return
	}
	named := c.as
	c.as = false
	c.valueOrYield()
	c.accept('=')
	if c.accept('!') {
		c.bad = c.bad || !c.is("r") && !c.is("s") && !c.is("a")
		c.name()
	}
	if c.accept(':') {
		for c.accept(kFieldStart) {
			c.field()
		}
	}
	c.want(kFieldEnd)
	c.as = named
}
