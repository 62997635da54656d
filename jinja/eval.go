package jinja

func (e *constExpr) eval(*run, *frame) (Value, error) { return e.value, nil }

func (e *nameExpr) eval(r *run, f *frame) (Value, error) {
	v := *f.slot(e.at)
	if v == absent {
		return &undefined{repr(e.name) + " is undefined"}, nil
	}
	return v, nil
}

func (e *attrTarget) eval(*run, *frame) (Value, error) {
	return nil, faultAt(e.pos, "the target of an assignment has no value here")
}

func evalAll(r *run, f *frame, list []expr) ([]Value, error) {
	out := make([]Value, len(list))
	for i, e := range list {
		v, err := e.eval(r, f)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (e *tupleExpr) eval(r *run, f *frame) (Value, error) {
	items, err := evalAll(r, f, e.items)
	if err == nil {
		err = r.built(64 + 16*len(items))
	}
	return &tuple{items: items}, err
}

func (e *listExpr) eval(r *run, f *frame) (Value, error) {
	items, err := evalAll(r, f, e.items)
	if err == nil {
		err = r.built(64 + 16*len(items))
	}
	return &List{items}, err
}

func (e *dictExpr) eval(r *run, f *frame) (Value, error) {
	m := NewMap()
	for i := range e.keys {
		k, err := e.keys[i].eval(r, f)
		if err != nil {
			return nil, err
		}
		v, err := e.values[i].eval(r, f)
		if err != nil {
			return nil, err
		}
		if err := m.set(k, v); err != nil {
			return nil, at(e.pos, err)
		}
	}
	return m, r.built(128 + 128*len(e.keys))
}

func (e *condExpr) eval(r *run, f *frame) (Value, error) {
	v, err := e.test.eval(r, f)
	if err != nil {
		return nil, err
	}
	if truth(v) {
		return e.then.eval(r, f)
	}
	if e.otherwise == nil {
		return &undefined{"the inline if-expression evaluated to false and no else section was defined"}, nil
	}
	return e.otherwise.eval(r, f)
}

func (e *logicExpr) eval(r *run, f *frame) (Value, error) {
	v, err := e.left.eval(r, f)
	if err != nil || truth(v) == e.or {
		return v, err
	}
	return e.right.eval(r, f)
}

func (e *notExpr) eval(r *run, f *frame) (Value, error) {
	v, err := e.of.eval(r, f)
	return !truth(v), err
}

func (e *unaryExpr) eval(r *run, f *frame) (Value, error) {
	v, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	v, err = unary(e.op, v)
	return v, at(e.pos, err)
}

func (e *binaryExpr) eval(r *run, f *frame) (Value, error) {
	left, err := e.left.eval(r, f)
	if err != nil {
		return nil, err
	}
	right, err := e.right.eval(r, f)
	if err != nil {
		return nil, err
	}
	if e.op == "+" {
		if a, ok := left.(string); ok {
			if b, ok := right.(string); ok {
				if err := r.built(len(a) + len(b)); err != nil {
					return nil, at(e.pos, err)
				}
				return a + b, nil
			}
		}
	}
	v, err := binary(r, e.op, left, right)
	return v, at(e.pos, err)
}

func (e *concatExpr) eval(r *run, f *frame) (Value, error) {
	// Python evaluates all parts before it converts them to text.
	values, err := evalAll(r, f, e.parts)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, v := range values {
		text, err := toText(v)
		if err != nil {
			return nil, err
		}
		out = append(out, text...)
	}
	return string(out), r.built(len(out))
}

func (e *compareExpr) eval(r *run, f *frame) (Value, error) {
	left, err := e.left.eval(r, f)
	if err != nil {
		return nil, err
	}
	for i, op := range e.ops {
		right, err := e.rights[i].eval(r, f)
		if err != nil {
			return nil, err
		}
		ok, err := compare(r, op, left, right)
		if err != nil {
			return nil, at(e.pos, err)
		}
		if !ok {
			return false, nil
		}
		left = right
	}
	return true, nil
}

func (e *attrExpr) eval(r *run, f *frame) (Value, error) {
	of, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	v, err := attribute(of, e.attr, e.on)
	return v, at(e.pos, err)
}

func (e *itemExpr) eval(r *run, f *frame) (Value, error) {
	of, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	arg, err := e.arg.eval(r, f)
	if err != nil {
		return nil, err
	}
	v, err := item(r, of, arg)
	return v, at(e.pos, err)
}

func (e *sliceExpr) eval(r *run, f *frame) (Value, error) {
	of, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	var bounds [3]Value
	for i, b := range []expr{e.start, e.stop, e.step} {
		if b == nil {
			continue
		}
		if bounds[i], err = b.eval(r, f); err != nil {
			return nil, err
		}
	}
	v, err := slice(r, of, bounds)
	return v, at(e.pos, err)
}

func (e *callExpr) eval(r *run, f *frame) (Value, error) {
	of, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	args, named, err := e.arguments.values(r, f)
	if err != nil {
		return nil, at(e.pos, err)
	}
	v, err := invoke(r, of, args, named)
	return v, at(e.pos, err)
}

// values evaluates arguments in Python's order.
func (a *arguments) values(r *run, f *frame) ([]Value, *Map, error) {
	args, err := evalAll(r, f, a.args)
	if err != nil {
		return nil, nil, err
	}
	var named *Map
	for i, name := range a.names {
		v, err := a.named[i].eval(r, f)
		if err != nil {
			return nil, nil, err
		}
		if named == nil {
			named = NewMap()
		}
		named.Set(name, v)
	}
	if a.star != nil {
		v, err := a.star.eval(r, f)
		if err != nil {
			return nil, nil, err
		}
		more, err := listOf(r, v)
		if err != nil {
			return nil, nil, err
		}
		args = append(args, more...)
	}
	return args, named, nil
}

func (e *filterExpr) eval(r *run, f *frame) (Value, error) {
	of, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	args, named, err := e.arguments.values(r, f)
	if err != nil {
		return nil, at(e.pos, err)
	}
	v, err := e.filter.call(r, of, args, named)
	return v, at(e.pos, err)
}

func (e *testExpr) eval(r *run, f *frame) (Value, error) {
	of, err := e.of.eval(r, f)
	if err != nil {
		return nil, err
	}
	if len(e.args)+len(e.names) == 0 && e.star == nil && e.test.one != nil {
		v, err := e.test.one(of)
		return v, at(e.pos, err)
	}
	args, named, err := e.arguments.values(r, f)
	if err != nil {
		return nil, at(e.pos, err)
	}
	v, err := e.test.call(r, of, args, named)
	return v, at(e.pos, err)
}
