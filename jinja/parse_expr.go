package jinja

import (
	"slices"
	"strings"
)

// constantNames are the names that are constants.
var constantNames = []string{"true", "false", "none", "True", "False", "None"}

// tupleRule defines how to read a tuple without parentheses.
type tupleRule struct {
	simple     bool   // only names and literals
	namespaces bool   // with simple: also attributes of namespaces
	condExpr   bool   // expressions may be conditional
	end        string // a name that ends it
	explicit   bool   // in parentheses: may be empty
}

func (p *parser) tuple(rule tupleRule) (expr, error) {
	var items []expr
	isTuple := false
	for {
		if len(items) > 0 {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
		}
		if p.tupleEnds(rule) {
			break
		}
		e, err := p.tupleItem(rule)
		if err != nil {
			return nil, err
		}
		items = append(items, e)
		if p.current().kind != "," {
			break
		}
		isTuple = true
	}
	if !isTuple {
		if len(items) > 0 {
			return items[0], nil
		}
		if !rule.explicit {
			t := p.current()
			return nil, faultAt(t.pos, "expected an expression, got %s", t.describe())
		}
	}
	return &tupleExpr{items}, nil
}

func (p *parser) tupleItem(rule tupleRule) (expr, error) {
	switch {
	case rule.simple:
		return p.primary(rule.namespaces)
	case rule.condExpr:
		return p.expression()
	}
	return p.or()
}

func (p *parser) tupleEnds(rule tupleRule) bool {
	t := p.current()
	return t.kind == kindVariableEnd || t.kind == kindBlockEnd || t.kind == ")" || rule.end != "" && t.is(rule.end)
}

func (p *parser) expression() (expr, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.or()
	for n := 0; err == nil && p.skipName("if"); {
		c := &condExpr{then: e}
		if err = p.chained(&n); err != nil {
			return nil, err
		}
		if c.test, err = p.or(); err != nil {
			return nil, err
		}
		if p.skipName("else") {
			if c.otherwise, err = p.expression(); err != nil {
				return nil, err
			}
		}
		e = c
	}
	return e, err
}

func (p *parser) or() (expr, error) { return p.logic("or", p.and) }

func (p *parser) and() (expr, error) { return p.logic("and", p.not) }

// logic reads operands that are joined by and, or by or.
func (p *parser) logic(word string, operand func() (expr, error)) (expr, error) {
	left, err := operand()
	for n := 0; err == nil && p.skipName(word); {
		var right expr
		if err = p.chained(&n); err != nil {
			break
		}
		if right, err = operand(); err == nil {
			left = &logicExpr{word == "or", left, right}
		}
	}
	return left, err
}

func (p *parser) not() (expr, error) {
	if !p.skipName("not") {
		return p.compare()
	}
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	e, err := p.not()
	return &notExpr{e}, err
}

var compareOperators = []kind{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) compare() (expr, error) {
	c := &compareExpr{}
	var err error
	if c.left, err = p.binary(0); err != nil {
		return nil, err
	}
	for {
		t := p.current()
		op := t.kind
		switch {
		case slices.Contains(compareOperators, op):
			p.next()
		case t.is("in"):
			op = "in"
			p.next()
		case t.is("not") && p.look().is("in"):
			op = "not in"
			p.next()
			p.next()
		default:
			if len(c.ops) == 0 {
				return c.left, nil
			}
			return c, nil
		}
		if len(c.ops) == 0 {
			c.pos = t.pos
		}
		right, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		c.ops, c.rights = append(c.ops, op), append(c.rights, right)
	}
}

// binaryLevels are the operators from the loosest to the tightest.
var binaryLevels = [][]kind{{"+", "-"}, {"~"}, {"*", "%"}}

// refusedOperators are those of Jinja2 that no published chat template uses.
var refusedOperators = []kind{"/", "//", "**"}

func (p *parser) binary(level int) (expr, error) {
	if level == len(binaryLevels) {
		e, err := p.unary(true)
		if t := p.current(); err == nil && slices.Contains(refusedOperators, t.kind) {
			return nil, faultAt(t.pos, "the operator %s is not supported", t.kind)
		}
		return e, err
	}
	left, err := p.binary(level + 1)
	for n := 0; err == nil && slices.Contains(binaryLevels[level], p.current().kind); {
		t := p.next()
		var right expr
		if err = p.chained(&n); err != nil {
			break
		}
		if right, err = p.binary(level + 1); err != nil {
			break
		}
		c, ok := left.(*concatExpr)
		switch {
		case t.kind != "~":
			left = &binaryExpr{t.kind, left, right, t.pos}
		case ok && c.pos < 0:
			c.parts = append(c.parts, right)
		default:
			left = &concatExpr{[]expr{left, right}, -1}
		}
	}
	if c, ok := left.(*concatExpr); ok && c.pos < 0 {
		c.pos = 0 // closed: a concatenation in parentheses is a single part
	}
	return left, err
}

func (p *parser) unary(filtered bool) (expr, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	t := p.current()
	var e expr
	var err error
	if t.kind == "-" || t.kind == "+" {
		p.next()
		if e, err = p.unary(false); err != nil {
			return nil, err
		}
		e = &unaryExpr{t.kind, e, t.pos}
	} else if e, err = p.primary(false); err != nil {
		return nil, err
	}
	if e, err = p.postfix(e); err != nil || !filtered {
		return e, err
	}
	return p.filterExpr(e)
}

func (p *parser) primary(namespaces bool) (expr, error) {
	t := p.current()
	switch t.kind {
	case kindName:
		p.next()
		switch t.text {
		case "true", "True", "false", "False":
			return &constExpr{t.text == "true" || t.text == "True"}, nil
		case "none", "None":
			return &constExpr{nil}, nil
		}
		if namespaces && p.skip(".") {
			attr, err := p.expect(kindName)
			return &attrTarget{name: t.text, attr: attr.text, pos: t.pos}, err
		}
		return &nameExpr{name: t.text, pos: t.pos}, nil
	case kindString:
		var text strings.Builder
		for p.current().kind == kindString {
			text.WriteString(p.next().text)
		}
		return &constExpr{text.String()}, nil
	case kindInteger, kindFloat:
		p.next()
		return &constExpr{t.value}, nil
	case "(":
		p.next()
		e, err := p.tuple(tupleRule{condExpr: true, explicit: true})
		if err != nil {
			return nil, err
		}
		_, err = p.expect(")")
		return e, err
	case "[":
		return p.list()
	case "{":
		return p.dict()
	}
	return nil, faultAt(t.pos, "unexpected %s", t.describe())
}

// separated reads items with commas between them, up to the closing token. A comma may follow the last.
func (p *parser) separated(end kind, item func() error) error {
	for first := true; p.current().kind != end; first = false {
		if !first {
			if _, err := p.expect(","); err != nil {
				return err
			}
			if p.current().kind == end {
				break
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
	p.next()
	return nil
}

func (p *parser) list() (expr, error) {
	p.next()
	e := &listExpr{}
	err := p.separated("]", func() error {
		item, err := p.expression()
		e.items = append(e.items, item)
		return err
	})
	return e, err
}

func (p *parser) dict() (expr, error) {
	e := &dictExpr{pos: p.next().pos}
	err := p.separated("}", func() error {
		key, err := p.expression()
		if err != nil {
			return err
		}
		if _, err := p.expect(":"); err != nil {
			return err
		}
		value, err := p.expression()
		e.keys, e.values = append(e.keys, key), append(e.values, value)
		return err
	})
	return e, err
}
