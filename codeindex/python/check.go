package python

// A checker looks for what is not Python 3 in logical lines.
type checker struct {
	verdict
	src     []byte
	tokens  []token
	i       int
	depth   int
	as      bool // an expression may be named: in with and case
	pattern bool // an if follows the expression: in case
	levels  []level
	opening bool // the line before ends with a colon
	opener  kind // what begins that line
}

// A level is an indent of the block.
type level struct {
	col, alt int
	previous kind // what began the statement before
	cases    bool // it is the block of a match
}

const (
	maxLevels = 100   // that Python has
	maxDepth  = 20000 // of expressions; deeper ones are not checked
)

// Kinds of statements that are not those of a keyword.
const (
	noClause  kind = 0
	tryElse   kind = 1
	matchLine kind = 2
)

// line checks the logical line that was read.
func (c *checker) line(s *scanner) {
	c.src, c.tokens, c.i, c.depth, c.as, c.pattern = s.src, s.tokens, 0, 0, false, false
	if len(c.tokens) < 2 {
		c.bad = true
		return
	}
	top := c.indent(s.col, s.alt)
	isCase := top.cases
	first := c.clause(top)
	c.opening = c.tokens[len(c.tokens)-2].kind == ':'
	c.opener = first
	switch {
	case isCase:
		c.caseBlock()
	case first == matchLine:
		c.matchHeader()
	default:
		c.statement()
	}
	c.want(kEnd)
}

// finish checks that nothing is open at the end.
func (c *checker) finish() {
	c.bad = c.bad || c.opening
	for _, l := range c.levels {
		c.leave(l)
	}
}

// indent opens or closes blocks and returns that of the line.
func (c *checker) indent(col, alt int) *level {
	if len(c.levels) == 0 {
		c.bad = c.bad || col > 0
		c.levels = append(c.levels, level{})
	}
	top := c.levels[len(c.levels)-1]
	if col > top.col {
		c.bad = c.bad || !c.opening || len(c.levels) > maxLevels
		c.py2 = c.py2 || alt <= top.alt
		c.levels = append(c.levels, level{col: col, alt: alt, cases: c.opener == matchLine})
		return &c.levels[len(c.levels)-1]
	}
	c.bad = c.bad || c.opening
	for len(c.levels) > 1 && top.col > col {
		c.leave(top)
		c.levels = c.levels[:len(c.levels)-1]
		top = c.levels[len(c.levels)-1]
	}
	c.bad = c.bad || top.col != col
	c.py2 = c.py2 || top.col == col && top.alt != alt
	return &c.levels[len(c.levels)-1]
}

// leave checks that a block ends with a complete statement.
func (c *checker) leave(l level) {
	c.bad = c.bad || l.previous == kTry || l.previous == '@'
}

// clause checks that the line may follow the one before in its block, and returns what begins it.
func (c *checker) clause(l *level) kind {
	first := c.tokens[0].kind
	before := l.previous
	after := func(kinds ...kind) {
		for _, k := range kinds {
			if k == before {
				return
			}
		}
		c.bad = true
	}
	switch first {
	case kElif:
		after(kIf, kElif)
	case kElse:
		after(kIf, kElif, kFor, kWhile, kExcept)
		if before == kExcept {
			first = tryElse
		}
	case kExcept:
		after(kTry, kExcept)
	case kFinally:
		after(kTry, kExcept, tryElse)
	case kAsync:
		first = c.tokens[1].kind
	case kName:
		if c.tokens[len(c.tokens)-2].kind == ':' && len(c.tokens) > 3 && c.is("match") {
			first = matchLine
		}
	}
	if before == '@' && first != kDef && first != kClass && first != '@' {
		c.bad = true
	}
	if before == kTry && first != kExcept && first != kFinally {
		c.bad = true
	}
	l.previous = first
	return first
}

func (c *checker) kind() kind { return c.tokens[c.i].kind }

// ahead returns the kind of the token after this.
func (c *checker) ahead() kind { return c.tokens[min(c.i+1, len(c.tokens)-1)].kind }

// is reports whether the token is the word.
func (c *checker) is(word string) bool {
	t := c.tokens[c.i]
	return t.kind == kName && string(c.src[t.from:t.to]) == word
}

// fail ends the check of the line.
func (c *checker) fail() {
	c.bad = true
	c.i = len(c.tokens) - 1
}

// accept skips a token of the kind.
func (c *checker) accept(k kind) bool {
	if c.kind() != k || k == kEnd {
		return false
	}
	c.i++
	return true
}

// want skips a token that must be there.
func (c *checker) want(k kind) {
	if c.kind() != k {
		c.fail()
		return
	}
	if k != kEnd {
		c.i++
	}
}

// name skips a name. What became a keyword later is one of Python 2.
func (c *checker) name() {
	t := c.tokens[c.i]
	if !t.isNameOfPython2() {
		c.fail()
		return
	}
	c.py2 = c.py2 || t.kind != kName
	c.i++
}
