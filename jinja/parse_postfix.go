package jinja

import "slices"

// postfix reads subscripts and calls.
func (p *parser) postfix(e expr) (expr, error) {
	for n := 0; ; {
		err := p.chained(&n)
		if err != nil {
			return nil, err
		}
		switch p.current().kind {
		case ".":
			e, err = p.attribute(e)
		case "[":
			e, err = p.subscript(e)
		case "(":
			e, err = p.call(e)
		default:
			return e, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// filterExpr reads filters, tests and the calls between them.
func (p *parser) filterExpr(e expr) (expr, error) {
	for n := 0; ; {
		err := p.chained(&n)
		if err != nil {
			return nil, err
		}
		switch t := p.current(); {
		case t.kind == "|":
			e, err = p.filters(e)
		case t.is("is"):
			e, err = p.test(e)
		case t.kind == "(":
			e, err = p.call(e)
		default:
			return e, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *parser) attribute(e expr) (expr, error) {
	p.next()
	t := p.next()
	switch t.kind {
	case kindName:
		return &attrExpr{of: e, attr: t.text, on: ownersByName[t.text], pos: t.pos}, nil
	case kindInteger:
		return &itemExpr{e, &constExpr{t.value}, t.pos}, nil
	}
	return nil, faultAt(t.pos, "expected name or number, got %s", t.describe())
}

func (p *parser) subscript(e expr) (expr, error) {
	pos := p.next().pos
	var args []expr
	var cut *sliceExpr
	for p.current().kind != "]" {
		if len(args) > 0 || cut != nil {
			if _, err := p.expect(","); err != nil {
				return nil, err
			}
		}
		arg, c, err := p.subscribed()
		if err != nil {
			return nil, err
		}
		if c != nil && (cut != nil || len(args) > 0) || c == nil && cut != nil {
			return nil, faultAt(pos, "a slice cannot be combined with another index")
		}
		if c != nil {
			cut = c
			continue
		}
		args = append(args, arg)
	}
	p.next()
	switch {
	case cut != nil:
		cut.of, cut.pos = e, pos
		return cut, nil
	case len(args) == 1:
		return &itemExpr{e, args[0], pos}, nil
	}
	return &itemExpr{e, &tupleExpr{args}, pos}, nil
}

// subscribed reads an index, or the three parts of a slice.
func (p *parser) subscribed() (expr, *sliceExpr, error) {
	cut := &sliceExpr{}
	var err error
	if p.current().kind != ":" {
		e, err := p.expression()
		if err != nil || p.current().kind != ":" {
			return e, nil, err
		}
		cut.start = e
	}
	p.next()
	ends := []kind{":", "]", ","}
	if !slices.Contains(ends, p.current().kind) {
		if cut.stop, err = p.expression(); err != nil {
			return nil, nil, err
		}
	}
	if p.skip(":") && !slices.Contains(ends[1:], p.current().kind) {
		if cut.step, err = p.expression(); err != nil {
			return nil, nil, err
		}
	}
	return nil, cut, nil
}

func (p *parser) call(e expr) (expr, error) {
	c := &callExpr{of: e, pos: p.current().pos}
	var err error
	c.arguments, err = p.callArguments()
	return c, err
}

func (p *parser) callArguments() (a arguments, err error) {
	open, err := p.expect("(")
	if err != nil {
		return a, err
	}
	wrong := func() error { return faultAt(open.pos, "invalid syntax for function call expression") }
	err = p.separated(")", func() (err error) {
		t := p.current()
		switch {
		case t.kind == "*":
			if a.star != nil {
				return wrong()
			}
			p.next()
			a.star, err = p.expression()
		case t.kind == "**":
			return faultAt(t.pos, "** in a call is not supported")
		case t.kind == kindName && p.look().kind == "=":
			if slices.Contains(a.names, t.text) {
				return faultAt(t.pos, "duplicate argument %s", t.text)
			}
			p.next()
			p.next()
			var value expr
			value, err = p.expression()
			a.names, a.named = append(a.names, t.text), append(a.named, value)
		default:
			if a.star != nil || len(a.named) > 0 {
				return wrong()
			}
			var value expr
			value, err = p.expression()
			a.args = append(a.args, value)
		}
		return err
	})
	return a, err
}

// filters reads |name(…)|name….
func (p *parser) filters(e expr) (expr, error) {
	for n := 0; p.current().kind == "|"; {
		if err := p.chained(&n); err != nil {
			return nil, err
		}
		p.next()
		t, err := p.expect(kindName)
		if err != nil {
			return nil, err
		}
		f := &filterExpr{of: e, name: t.text, pos: t.pos}
		if p.current().kind == "." {
			return nil, faultAt(t.pos, "unknown filter %s.", t.text)
		}
		if f.filter, err = findFilter(t.text); err != nil {
			return nil, faultAt(t.pos, "%s", err)
		}
		if p.current().kind == "(" {
			if f.arguments, err = p.callArguments(); err != nil {
				return nil, err
			}
		}
		e = f
	}
	return e, nil
}

// test reads is name, is not name, with arguments or one argument without parentheses.
func (p *parser) test(e expr) (expr, error) {
	p.next()
	negated := p.skipName("not")
	t, err := p.expect(kindName)
	if err != nil {
		return nil, err
	}
	x := &testExpr{of: e, name: t.text, pos: t.pos}
	if p.current().kind == "." {
		return nil, faultAt(t.pos, "unknown test %s.", t.text)
	}
	if x.test, err = findTest(t.text); err != nil {
		return nil, faultAt(t.pos, "%s", err)
	}
	c := p.current()
	switch c.kind {
	case "(":
		if x.arguments, err = p.callArguments(); err != nil {
			return nil, err
		}
	case kindName, kindString, kindInteger, kindFloat, "[", "{":
		if c.is("else") || c.is("or") || c.is("and") {
			break
		}
		if c.is("is") {
			return nil, faultAt(c.pos, "tests cannot be chained with is")
		}
		arg, err := p.primary(false)
		if err != nil {
			return nil, err
		}
		if arg, err = p.postfix(arg); err != nil {
			return nil, err
		}
		x.args = []expr{arg}
	}
	if negated {
		return &notExpr{x}, nil
	}
	return x, nil
}
