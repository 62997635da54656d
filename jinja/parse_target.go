package jinja

import "slices"

// nameTarget reads a name that is assigned to.
func (p *parser) nameTarget() (*nameExpr, error) {
	t, err := p.expect(kindName)
	if err != nil {
		return nil, err
	}
	if slices.Contains(constantNames, t.text) {
		return nil, faultAt(t.pos, "can't assign to %s", t.text)
	}
	return &nameExpr{name: t.text, use: store, pos: t.pos}, nil
}

// assignTarget reads the target of an assignment: a name, a tuple of names or, if the rule allows it, an
// attribute of a namespace.
func (p *parser) assignTarget(rule tupleRule) (expr, error) {
	pos := p.current().pos
	rule.simple = true
	e, err := p.tuple(rule)
	if err != nil {
		return nil, err
	}
	if !setUse(e, store) {
		return nil, faultAt(pos, "this can't be assigned to")
	}
	return e, nil
}

// setUse marks the names of a target, and reports whether the expression is a target.
func setUse(e expr, u use) bool {
	switch e := e.(type) {
	case *nameExpr:
		e.use = u
		return true
	case *attrTarget:
		return true
	case *tupleExpr:
		for _, item := range e.items {
			if !setUse(item, u) {
				return false
			}
		}
		return true
	}
	return false
}
