package python

// A shape is what an expression can be beside a value.
type shape uint8

const (
	name   shape = 1 << iota // a name
	target                   // something that can be assigned to
	list                     // a tuple or a list of targets
	star                     // a starred expression
	plain                    // it can be assigned to in Python 2
	value                    // any other expression
)

// target checks that an expression can be assigned to.
func (c *checker) target(s shape) {
	if s&plain != 0 {
		c.py2 = true
		return
	}
	if s&(target|list) == 0 {
		c.bad = true
	}
}

// valueOrYield checks the right of an assignment.
func (c *checker) valueOrYield() shape {
	if c.kind() == kYield {
		c.yield()
		return value
	}
	return c.starExpressions()
}

func (c *checker) yield() {
	c.i++
	if c.accept(kFrom) {
		c.py3 = true
		c.expression()
		return
	}
	if c.startsExpression() {
		c.starExpressions()
	}
}

// starExpressions checks a list of expressions with commas.
func (c *checker) starExpressions() shape {
	first := c.starExpression()
	if c.kind() != ',' {
		return first
	}
	all := element(first)
	for c.accept(',') && c.startsExpression() {
		all &= element(c.starExpression())
	}
	return all | value
}

// element returns list if an expression can be an element of a target.
func element(s shape) shape {
	if s&(target|list) != 0 {
		return list
	}
	return 0
}

// starExpression checks an expression that may be starred.
func (c *checker) starExpression() shape {
	if c.accept('*') {
		return c.comparison() | star
	}
	return c.expression()
}

// starNamed checks an expression that may be starred or assigned with a walrus.
func (c *checker) starNamed() shape {
	if c.kind() == '*' {
		return c.starExpression()
	}
	return c.namedExpression()
}

// targets checks a list of targets.
func (c *checker) targets() {
	for {
		c.accept('*')
		c.target(c.operand())
		if !c.accept(',') || !c.startsExpression() {
			return
		}
	}
}

// namedExpression checks an expression that may be assigned with a walrus.
func (c *checker) namedExpression() shape {
	s := c.expression()
	if c.kind() != kWalrus {
		return s
	}
	c.i++
	c.bad = c.bad || s&name == 0
	c.expression()
	return value
}

// expression checks an expression.
func (c *checker) expression() shape {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxDepth {
		c.i = len(c.tokens) - 1
		return value
	}
	if c.accept(kLambda) {
		c.parameters(':', false)
		c.want(':')
		c.expression()
		return value
	}
	s := c.disjunction()
	for !c.pattern && c.accept(kIf) {
		c.disjunction()
		c.want(kElse)
		s = value
		if c.kind() == kLambda {
			return c.expression()
		}
		c.disjunction()
	}
	if c.as && c.accept(kAs) {
		c.target(c.operand())
	}
	return s
}

// disjunction checks comparisons joined by and, or and not.
func (c *checker) disjunction() shape {
	s := shape(value)
	for first := true; ; first = false {
		negated := false
		for c.accept(kNot) {
			negated = true
		}
		one := c.comparison()
		if first && !negated {
			s = one
		}
		if !c.accept(kAnd) && !c.accept(kOr) {
			return s
		}
		s = value
		first = false
	}
}

// comparison checks operands with operators between them; their precedence does not matter.
func (c *checker) comparison() shape {
	s := c.operand()
	for c.operatorAhead() {
		s = value
		c.operand()
	}
	return s
}

// operatorAhead skips an operator.
func (c *checker) operatorAhead() bool {
	switch c.kind() {
	case kNot:
		if c.ahead() != kIn {
			return false
		}
		c.i += 2
	case kIs:
		c.i++
		c.accept(kNot)
	case '+', '-', '*', '/', '%', '&', '|', '^', kPower, kShift, kCompare, kIn:
		c.i++
	case '@':
		c.py3 = true
		c.i++
	default:
		return false
	}
	return true
}

// startsExpression reports whether the token can begin an expression, starred or not.
func (c *checker) startsExpression() bool {
	switch k := c.kind(); k {
	case '(', '[', '-', '+', '*', kNot, kAwait, kAsync, kTextStart, kEllipsis, kNonlocal:
		return true
	default:
		return startsOperand(k)
	}
}
