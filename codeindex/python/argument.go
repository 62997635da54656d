package python

// arguments checks the arguments of a call after its bracket, and the bracket at the end.
func (c *checker) arguments() {
	named, unpacked := false, false
	for count := 0; c.kind() != ')'; count++ {
		switch {
		case c.accept('*'):
			c.bad = c.bad || unpacked
			c.expression()
		case c.accept(kPower):
			unpacked = true
			c.expression()
		case c.ahead() == '=' && c.tokens[c.i].isNameOfPython2():
			named = true
			c.name()
			c.i++
			c.expression()
		default:
			c.bad = c.bad || named || unpacked
			c.namedExpression()
			if c.comprehensionAhead() {
				c.comprehension(false)
				c.bad = c.bad || count > 0 || c.kind() == ',' && c.ahead() != ')'
			}
		}
		if !c.accept(',') {
			break
		}
	}
	c.want(')')
}

func (c *checker) comprehensionAhead() bool {
	return c.kind() == kFor || c.kind() == kAsync && c.ahead() == kFor
}

// comprehension checks the clauses of a comprehension. In a list, they may be in lists without
// brackets in Python 2.
func (c *checker) comprehension(inList bool) {
	for c.comprehensionAhead() {
		if c.accept(kAsync) {
			c.py3 = true
		}
		c.i++
		c.targets()
		c.want(kIn)
		c.disjunction()
		for inList && c.accept(',') {
			c.py2 = true
			c.disjunction()
		}
		for c.accept(kIf) {
			c.condition()
		}
	}
}

// condition checks that of a comprehension, which may be a lambda in Python 2.
func (c *checker) condition() {
	if c.kind() == kLambda {
		c.py2 = true
		c.expression()
		return
	}
	c.disjunction()
}
