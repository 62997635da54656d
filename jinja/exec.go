package jinja

// execAll runs statements in order, up to a break or continue.
func execAll(r *run, f *frame, list []stmt) (flow, error) {
	for _, s := range list {
		if err := r.step(1); err != nil {
			return flowOn, err
		}
		if fl, err := s.exec(r, f); err != nil || fl != flowOn {
			return fl, err
		}
	}
	return flowOn, nil
}

func (s *textStmt) exec(r *run, _ *frame) (flow, error) { return flowOn, r.write(s.text) }

func (s *outputStmt) exec(r *run, f *frame) (flow, error) {
	v, err := s.of.eval(r, f)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	text, err := toText(v)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	return flowOn, at(s.pos, r.write(text))
}

func (s *ifStmt) exec(r *run, f *frame) (flow, error) {
	for branch, i := s, 0; ; i++ {
		v, err := branch.test.eval(r, f)
		if err != nil {
			return flowOn, err
		}
		if truth(v) {
			return execAll(r, f, branch.body)
		}
		if i == len(s.elifs) {
			return execAll(r, f, s.otherwise)
		}
		branch = s.elifs[i]
	}
}

func (s *setStmt) exec(r *run, f *frame) (flow, error) {
	if err := checkNamespaces(f, s.target); err != nil {
		return flowOn, at(s.pos, err)
	}
	v, err := s.value.eval(r, f)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	return flowOn, at(s.pos, assign(r, f, s.target, v))
}

// checkNamespaces refuses attributes of other values than namespaces, before the value is computed.
func checkNamespaces(f *frame, target expr) error {
	switch t := target.(type) {
	case *attrTarget:
		if _, ok := (*f.slot(t.at)).(*namespace); !ok {
			return faultAt(t.pos, "cannot assign attribute on non-namespace object")
		}
	case *tupleExpr:
		for _, item := range t.items {
			if err := checkNamespaces(f, item); err != nil {
				return err
			}
		}
	}
	return nil
}

// assign stores a value in a name, an attribute of a namespace, or a tuple of these.
func assign(r *run, f *frame, target expr, v Value) error {
	switch t := target.(type) {
	case *nameExpr:
		*f.slot(t.at) = v
		return nil
	case *attrTarget:
		ns, ok := (*f.slot(t.at)).(*namespace)
		if !ok {
			return faultAt(t.pos, "cannot assign attribute on non-namespace object")
		}
		return at(t.pos, ns.set(t.attr, v))
	case *tupleExpr:
		items, err := take(r, v, len(t.items))
		if err != nil {
			return err
		}
		for i, item := range t.items {
			if err := assign(r, f, item, items[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return faultf("this can't be assigned to")
}

// take returns the n items of a value that is unpacked.
func take(r *run, v Value, n int) ([]Value, error) {
	if items, ok := itemsOf(v); ok && len(items) == n {
		return items, nil
	}
	next, err := iterate(r, v)
	if err != nil {
		return nil, faultf("cannot unpack a value of type %s", typeName(v))
	}
	items := make([]Value, 0, n)
	for len(items) <= n {
		item, ok, err := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		items = append(items, item)
	}
	switch {
	case len(items) > n:
		return nil, faultf("too many values to unpack (expected %d)", n)
	case len(items) < n:
		return nil, faultf("not enough values to unpack (expected %d, got %d)", n, len(items))
	}
	return items, nil
}

func (s *setBlockStmt) exec(r *run, f *frame) (flow, error) {
	r.load(f, s.enter)
	text, fl, err := r.capture(func() (flow, error) { return execAll(r, f, s.body) })
	if err != nil || fl != flowOn {
		return fl, at(s.pos, err)
	}
	err = assign(r, f, s.target, text)
	f.clear(s.leave)
	return flowOn, at(s.pos, err)
}

func (s *breakStmt) exec(*run, *frame) (flow, error)    { return flowBreak, nil }
func (s *continueStmt) exec(*run, *frame) (flow, error) { return flowContinue, nil }
