package python

func (c *checker) simpleStatements() {
	c.simple()
	for c.accept(';') && c.kind() != kEnd {
		c.simple()
	}
}

func (c *checker) simple() {
	switch c.kind() {
	case kPass, kBreak, kContinue:
		c.i++
	case kReturn:
		c.i++
		if c.startsExpression() {
			c.starExpressions()
		}
	case kRaise:
		c.i++
		c.raise()
	case kGlobal:
		c.i++
		c.names()
	case kNonlocal:
		if c.ahead() != kName {
			c.expressionStatement()
			return
		}
		c.py3 = true
		c.i++
		c.names()
	case kDel:
		c.i++
		c.targets()
	case kAssert:
		c.i++
		c.expression()
		if c.accept(',') {
			c.expression()
		}
	case kImport:
		c.i++
		c.importModules()
	case kFrom:
		c.i++
		c.importFrom()
	default:
		c.expressionStatement()
	}
}

func (c *checker) names() {
	c.name()
	for c.accept(',') {
		c.name()
	}
}

// raise checks an exception; the value and the traceback after commas are of Python 2.
func (c *checker) raise() {
	if !c.startsExpression() {
		return
	}
	c.expression()
	if c.accept(kFrom) {
		c.py3 = true
		c.expression()
		return
	}
	for range 2 {
		if c.accept(',') {
			c.py2 = true
			c.expression()
		}
	}
}

func (c *checker) dotted() {
	c.name()
	for c.accept('.') {
		c.name()
	}
}

func (c *checker) importModules() {
	c.dotted()
	c.alias()
	for c.accept(',') {
		c.dotted()
		c.alias()
	}
}

func (c *checker) alias() {
	if c.accept(kAs) {
		c.name()
	}
}

func (c *checker) importFrom() {
	dots := false
	for c.accept('.') || c.accept(kEllipsis) {
		dots = true
	}
	if !dots || c.kind() != kImport {
		c.dotted()
	}
	c.want(kImport)
	switch {
	case c.accept('*'):
	case c.accept('('):
		c.importNames(')')
		c.want(')')
	default:
		c.importNames(kEnd)
	}
}

// importNames checks names with aliases; a comma may stand before the end in brackets.
func (c *checker) importNames(end kind) {
	for {
		c.name()
		c.alias()
		if !c.accept(',') || end == ')' && c.kind() == ')' {
			return
		}
	}
}

// expressionStatement checks an expression, an assignment or what begins with a soft keyword.
func (c *checker) expressionStatement() {
	if c.softKeyword() {
		return
	}
	shape := c.valueOrYield()
	switch {
	case c.accept(':'):
		c.py3 = true
		c.target(shape &^ list)
		c.expression()
		if c.accept('=') {
			c.valueOrYield()
		}
	case c.accept(kAugmented):
		c.target(shape &^ list)
		c.valueOrYield()
	default:
		for c.accept('=') {
			c.target(shape)
			shape = c.valueOrYield()
		}
	}
}

// softKeyword checks the statements that begin with a word that may be a name.
func (c *checker) softKeyword() bool {
	next := c.ahead()
	switch {
	case c.kind() != kName:
		return false
	case next == kName && c.is("type"):
		c.py3 = true
		c.i += 2
		c.typeParameters()
		c.want('=')
		c.expression()
		return true
	case (next == kImport || next == kFrom) && c.is("lazy"):
		c.py3 = true
		c.i++
		c.simple()
		return true
	case startsOperand(next) && (c.is("print") || c.is("exec")):
		c.py2 = true
		c.i++
		c.starExpressions()
		return true
	case next == kNot && c.tokens[c.i+2].kind != kIn && c.is("print"):
		c.py2 = true
		c.i++
		c.starExpressions()
		return true
	}
	return false
}

// startsOperand reports whether a token begins an expression and cannot go on with one.
func startsOperand(k kind) bool {
	switch k {
	case kName, kNumber, kString, kBytes, '~', '{', '`', kLambda, kNone, kTrue, kFalse:
		return true
	}
	return false
}
