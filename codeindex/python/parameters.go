package python

// def checks the header of a function up to its colon.
func (c *checker) def() {
	c.i++
	c.name()
	c.typeParameters()
	c.want('(')
	c.parameters(')', true)
	c.want(')')
	if c.accept(kArrow) {
		c.py3 = true
		c.expression()
	}
}

// A list of parameters has states in this order.
const (
	required = iota
	optional // after a default
	keyword  // after *
	afterAll // after **
)

// parameters checks parameters up to the end.
func (c *checker) parameters(end kind, annotated bool) {
	state := required
	slash := false
	for count := 0; c.kind() != end; count++ {
		c.bad = c.bad || state == afterAll
		switch {
		case c.accept('/'):
			c.py3 = true
			c.bad = c.bad || slash || state >= keyword || count == 0
			slash = true
		case c.accept(kPower):
			state = afterAll
			c.parameter(annotated)
		case c.accept('*'):
			c.bad = c.bad || state >= keyword
			state = keyword
			c.rest(end, annotated)
		default:
			c.parameter(annotated)
			if c.accept('=') {
				c.expression()
				state = max(state, optional)
			} else {
				c.bad = c.bad || state == optional
			}
		}
		if !c.accept(',') {
			return
		}
	}
}

// rest checks what follows the star of a parameter: its name, or more parameters.
func (c *checker) rest(end kind, annotated bool) {
	if c.kind() != ',' {
		c.parameter(annotated)
		return
	}
	c.py3 = true
	next := c.ahead()
	c.bad = c.bad || next == end || next == kPower
}

// parameter checks the name of a parameter and its annotation. A tuple is of Python 2.
func (c *checker) parameter(annotated bool) {
	if c.kind() == '(' {
		c.py2 = true
		c.targets()
		return
	}
	c.name()
	if annotated && c.accept(':') {
		c.py3 = true
		c.starExpression()
	}
}

// typeParameters checks the type parameters of a definition, if it has them.
func (c *checker) typeParameters() {
	if !c.accept('[') {
		return
	}
	c.py3 = true
	c.bad = c.bad || c.kind() == ']'
	for c.kind() != ']' {
		if !c.accept('*') {
			c.accept(kPower)
		}
		c.name()
		if c.accept(':') {
			c.expression()
		}
		if c.accept('=') {
			c.starExpression()
		}
		if !c.accept(',') {
			break
		}
	}
	c.want(']')
}
