package python

// statement checks a logical line.
func (c *checker) statement() {
	switch k := c.kind(); k {
	case '@':
		c.i++
		c.namedExpression()
		return
	case kAsync:
		c.async()
		return
	case kIf, kElif, kWhile:
		c.i++
		c.namedExpression()
	case kElse, kTry, kFinally:
		c.i++
	case kFor:
		c.i++
		c.targets()
		c.want(kIn)
		c.starExpressions()
	case kWith:
		c.i++
		c.as = true
		c.withItems()
		c.as = false
	case kExcept:
		c.i++
		c.except()
	case kDef:
		c.def()
	case kClass:
		c.class()
	default:
		c.simpleStatements()
		return
	}
	c.block()
}

// block checks the colon of a header and what follows it in the line.
func (c *checker) block() {
	c.want(':')
	if c.kind() != kEnd {
		c.simpleStatements()
	}
}

func (c *checker) async() {
	if next := c.ahead(); next == kDef || next == kFor || next == kWith {
		c.py3 = true
		c.i++
		c.statement()
		return
	}
	c.simpleStatements()
}

func (c *checker) withItems() {
	for {
		c.expression()
		if !c.accept(',') {
			return
		}
	}
}

// except checks the exceptions of a clause. Two without brackets are those of Python 3.14, or an
// exception and its variable in Python 2, whose name is in small letters, or not a name.
func (c *checker) except() {
	if c.accept('*') {
		c.py3 = true
	}
	if c.kind() == ':' {
		return
	}
	c.expression()
	if c.accept(kAs) {
		c.name()
		return
	}
	for count := 2; c.accept(','); count++ {
		start := c.i
		kind := c.expression()
		if count == 2 && c.kind() == ':' && kind != 0 && !c.isExceptionName(start, c.i) {
			c.py2 = true
		}
	}
}

// isExceptionName reports whether the tokens are a name whose last part begins with a capital.
func (c *checker) isExceptionName(from, to int) bool {
	t := c.tokens[to-1]
	first := c.src[t.from]
	return t.kind == kName && (first >= 'A' && first <= 'Z')
}

func (c *checker) class() {
	c.i++
	c.name()
	c.typeParameters()
	if c.accept('(') {
		c.arguments()
	}
}

func (c *checker) matchHeader() {
	c.py3 = true
	c.i++
	for c.starNamed(); c.accept(',') && c.kind() != ':'; {
		c.starNamed()
	}
	c.want(':')
}

func (c *checker) caseBlock() {
	if !c.is("case") {
		c.fail()
		return
	}
	c.i++
	c.as, c.pattern = true, true
	c.starExpressions()
	c.as, c.pattern = false, false
	if c.accept(kIf) {
		c.namedExpression()
	}
	c.block()
}
