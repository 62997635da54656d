package python

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
	s := c.starNamed()
	if c.comprehensionAhead() {
		c.comprehension(false)
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
		all &= element(c.starNamed())
	}
	c.want(end)
	return all | value
}

// listDisplay checks a list after its bracket.
func (c *checker) listDisplay() shape {
	if c.accept(']') {
		return list
	}
	first := c.starNamed()
	if !c.comprehensionAhead() {
		return c.elements(first, ']')
	}
	c.comprehension(true)
	c.want(']')
	return value
}

// braces checks a dictionary or a set after its bracket.
func (c *checker) braces() {
	pairs, single := false, false
	for c.kind() != '}' {
		if c.pair() {
			pairs = true
		} else {
			single = true
		}
		if c.comprehensionAhead() {
			c.comprehension(false)
			break
		}
		if !c.accept(',') {
			break
		}
	}
	c.bad = c.bad || pairs && single
	c.want('}')
}

// pair checks an element of a dictionary or of a set and reports whether it is of a dictionary.
func (c *checker) pair() bool {
	if c.accept(kPower) {
		c.comparison()
		return true
	}
	c.starNamed()
	if !c.accept(':') {
		return false
	}
	c.expression()
	return true
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
			c.comprehension(true)
		}
		if !c.accept(',') || c.kind() == ']' {
			break
		}
	}
	c.want(']')
}

func (c *checker) slice() {
	if c.kind() != ':' {
		c.starNamed()
	}
	for range 2 {
		if c.accept(':') && c.kind() != ':' && c.kind() != ',' && c.kind() != ']' {
			c.expression()
		}
	}
}
