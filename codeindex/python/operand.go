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
			printed := c.i == 1 && c.tokens[0].kind == kName && string(c.src[c.tokens[0].from:c.tokens[0].to]) == "print"
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
		return c.listDisplay(false)
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

// group checks what is in round brackets.
func (c *checker) group() shape {
	switch c.kind() {
	case ')':
		c.i++
		return list
	case kYield:
		c.yield()
		c.want(')')
		return value
	}
	s := c.starExpression()
	if c.comprehensionAhead() {
		c.comprehension()
		c.want(')')
		return value
	}
	if c.kind() != ',' {
		c.bad = c.bad || s&star != 0 && !c.as
		c.want(')')
		return s
	}
	return c.elements(s, ')')
}

// elements checks the elements after the first, and the bracket.
func (c *checker) elements(first shape, end kind) shape {
	all := element(first)
	for c.accept(',') && c.kind() != end {
		all &= element(c.starExpression())
	}
	c.want(end)
	return all | value
}

// listDisplay checks a list after its bracket.
func (c *checker) listDisplay(printed bool) shape {
	if c.accept(']') {
		return list
	}
	first := c.starExpression()
	if !c.comprehensionAhead() {
		return c.elements(first, ']')
	}
	c.py2 = c.py2 || printed
	c.comprehension()
	if c.kind() == ',' {
		c.py2 = true
		c.elements(value, ']') // [x for x in 1, 2]
		return value
	}
	c.want(']')
	return value
}

// braces checks a dictionary or a set after its bracket.
func (c *checker) braces() {
	for c.kind() != '}' {
		switch {
		case c.accept(kPower):
			c.comparison()
		default:
			c.starExpression()
			if c.accept(':') {
				c.expression()
			}
		}
		if c.comprehensionAhead() {
			c.comprehension()
			break
		}
		if !c.accept(',') {
			break
		}
	}
	c.want('}')
}

// subscript checks slices after their bracket. What is printed in Python 2 is a list.
func (c *checker) subscript(printed bool) {
	if c.kind() == ']' {
		c.i++
		c.py2 = c.py2 || printed
		c.bad = c.bad || !printed
		return
	}
	for {
		c.slice()
		if printed && c.comprehensionAhead() {
			c.py2 = true
			c.comprehension()
		}
		if !c.accept(',') || c.kind() == ']' {
			break
		}
	}
	c.want(']')
}

func (c *checker) slice() {
	if c.kind() != ':' {
		c.starExpression()
	}
	for range 2 {
		if c.accept(':') && c.kind() != ':' && c.kind() != ',' && c.kind() != ']' {
			c.expression()
		}
	}
}
