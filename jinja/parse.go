package jinja

import (
	"slices"
	"strings"
)

// parser reads statements and expressions from tokens. Each method corresponds to that of the same
// name in Jinja2's parser.
type parser struct {
	tokens []token
	i      int
	depth  int
}

func (p *parser) current() token { return p.tokens[p.i] }

func (p *parser) look() token { return p.tokens[min(p.i+1, len(p.tokens)-1)] }

// next returns the current token and moves to the next one.
func (p *parser) next() token {
	t := p.tokens[p.i]
	if p.i < len(p.tokens)-1 {
		p.i++
	}
	return t
}

func (p *parser) expect(k kind) (token, error) {
	if t := p.current(); t.kind != k {
		return t, faultAt(t.pos, "expected %s, got %s", k, t.describe())
	}
	return p.next(), nil
}

func (p *parser) expectName(name string) error {
	if t := p.current(); !t.is(name) {
		return faultAt(t.pos, "expected %s, got %s", name, t.describe())
	}
	p.next()
	return nil
}

func (p *parser) skip(k kind) bool {
	if p.current().kind == k {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.current().is(name) {
		p.next()
		return true
	}
	return false
}

// deeper limits the nesting of the source.
func (p *parser) deeper() error {
	if p.depth++; p.depth > maxParse {
		return faultAt(p.current().pos, "nested too deep")
	}
	return nil
}

// chained limits the operations of one expression, and so the depth of the tree.
func (p *parser) chained(n *int) error {
	if *n++; *n > maxChain {
		return faultAt(p.current().pos, "the expression is too long")
	}
	return nil
}

// template reads the whole source.
func (p *parser) template() ([]stmt, error) { return p.subparse(nil) }

// subparse reads statements up to one of the end tags, whose name is the current token then.
func (p *parser) subparse(ends []string) ([]stmt, error) {
	if err := p.deeper(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	var body []stmt
	for {
		t := p.current()
		switch t.kind {
		case kindEnd:
			if ends != nil {
				return nil, faultAt(t.pos, "unexpected end of template, expected %s", strings.Join(ends, " or "))
			}
			return body, nil
		case kindData:
			p.next()
			body = append(body, &textStmt{t.text})
		case kindVariableBegin:
			p.next()
			e, err := p.tuple(tupleRule{condExpr: true})
			if err != nil {
				return nil, err
			}
			if _, err := p.expect(kindVariableEnd); err != nil {
				return nil, err
			}
			body = append(body, &outputStmt{e, t.pos})
		case kindBlockBegin:
			p.next()
			if c := p.current(); c.kind == kindName && slices.Contains(ends, c.text) {
				return body, nil
			}
			s, err := p.statement()
			if err != nil {
				return nil, err
			}
			if _, err := p.expect(kindBlockEnd); err != nil {
				return nil, err
			}
			body = append(body, s)
		default:
			return nil, faultAt(t.pos, "unexpected %s", t.describe())
		}
	}
}

// statements reads the end of a block's tag and its body, up to an end tag. drop skips the name of that.
func (p *parser) statements(drop bool, ends ...string) ([]stmt, error) {
	p.skip(":")
	if _, err := p.expect(kindBlockEnd); err != nil {
		return nil, err
	}
	body, err := p.subparse(ends)
	if err == nil && drop {
		p.next()
	}
	return body, err
}

// refusedTags are statements of Jinja2 that no published chat template uses.
var refusedTags = []string{"extends", "include", "import", "from", "block", "autoescape", "call", "filter", "with", "print", "raw"}

func (p *parser) statement() (stmt, error) {
	t := p.current()
	if t.kind != kindName {
		return nil, faultAt(t.pos, "tag name expected")
	}
	switch t.text {
	case "if":
		return p.ifStatement()
	case "for":
		return p.forStatement()
	case "set":
		return p.setStatement()
	case "macro":
		return p.macroStatement()
	case "generation":
		return p.generationBlock()
	case "break":
		return &breakStmt{p.next().pos}, nil
	case "continue":
		return &continueStmt{p.next().pos}, nil
	}
	if slices.Contains(refusedTags, t.text) {
		return nil, faultAt(t.pos, "the statement %s is not supported", t.text)
	}
	return nil, faultAt(t.pos, "unknown statement %s", t.text)
}

func (p *parser) ifStatement() (stmt, error) {
	p.next()
	result := &ifStmt{}
	s := result
	for {
		var err error
		if s.test, err = p.tuple(tupleRule{}); err != nil {
			return nil, err
		}
		if s.body, err = p.statements(false, "elif", "else", "endif"); err != nil {
			return nil, err
		}
		switch p.next().text {
		case "elif":
			s = &ifStmt{}
			result.elifs = append(result.elifs, s)
			continue
		case "else":
			result.otherwise, err = p.statements(true, "endif")
		}
		return result, err
	}
}

func (p *parser) forStatement() (stmt, error) {
	s := &forStmt{pos: p.next().pos}
	var err error
	if s.target, err = p.assignTarget(tupleRule{end: "in"}); err != nil {
		return nil, err
	}
	if err = p.expectName("in"); err != nil {
		return nil, err
	}
	if s.iter, err = p.tuple(tupleRule{end: "recursive"}); err != nil {
		return nil, err
	}
	if p.skipName("if") {
		if s.test, err = p.expression(); err != nil {
			return nil, err
		}
	}
	if c := p.current(); c.is("recursive") {
		return nil, faultAt(c.pos, "a recursive loop is not supported")
	}
	if s.body, err = p.statements(false, "endfor", "else"); err != nil {
		return nil, err
	}
	if p.next().text == "else" {
		s.otherwise, err = p.statements(true, "endfor")
	}
	return s, err
}

func (p *parser) setStatement() (stmt, error) {
	pos := p.next().pos
	target, err := p.assignTarget(tupleRule{namespaces: true})
	if err != nil {
		return nil, err
	}
	if p.skip("=") {
		value, err := p.tuple(tupleRule{condExpr: true})
		return &setStmt{target, value, pos}, err
	}
	s := &setBlockStmt{target: target, pos: pos}
	if c := p.current(); c.kind == "|" {
		return nil, faultAt(c.pos, "a filter of a set block is not supported")
	}
	s.body, err = p.statements(true, "endset")
	return s, err
}

func (p *parser) macroStatement() (stmt, error) {
	s := &macroStmt{pos: p.next().pos}
	name, err := p.nameTarget()
	if err != nil {
		return nil, err
	}
	s.target, s.def.name = name, name.name
	if err := p.signature(&s.def); err != nil {
		return nil, err
	}
	s.def.body, err = p.statements(true, "endmacro")
	return s, err
}

// signature reads the parameters of a macro.
func (p *parser) signature(d *macroDef) error {
	if _, err := p.expect("("); err != nil {
		return err
	}
	for p.current().kind != ")" {
		if len(d.args) > 0 {
			if _, err := p.expect(","); err != nil {
				return err
			}
		}
		arg, err := p.nameTarget()
		if err != nil {
			return err
		}
		arg.use = param
		if slices.ContainsFunc(d.args, func(a *nameExpr) bool { return a.name == arg.name }) {
			return faultAt(arg.pos, "duplicate parameter %s", arg.name)
		}
		if p.skip("=") {
			value, err := p.expression()
			if err != nil {
				return err
			}
			d.defaults = append(d.defaults, value)
		} else if len(d.defaults) > 0 {
			return faultAt(p.current().pos, "non-default argument follows default argument")
		}
		d.args = append(d.args, arg)
	}
	p.next()
	return nil
}

func (p *parser) generationBlock() (stmt, error) {
	s := &generationStmt{pos: p.next().pos}
	var err error
	s.def.body, err = p.statements(true, "endgeneration")
	return s, err
}
