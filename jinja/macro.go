package jinja

// macro is a macro, or the body of a call block, with the frame that it was defined in.
type macro struct {
	def   *macroDef
	outer *frame
}

func (s *macroStmt) exec(r *run, f *frame) (flow, error) {
	*f.slot(s.target.at) = &macro{&s.def, f}
	return flowOn, nil
}

func (s *callStmt) exec(r *run, f *frame) (flow, error) {
	caller := &macro{&s.def, f}
	var v Value
	var err error
	if s.call == nil {
		v, err = caller.call(r, nil, nil)
	} else {
		v, err = s.call.with(r, f, caller)
	}
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	// A call block appends its value as it is: what is no text breaks Python's join.
	text, ok := plainText(v)
	if !ok {
		return flowOn, faultAt(s.pos, "a call block gives a value of type %s", typeName(v))
	}
	return flowOn, at(s.pos, r.write(text))
}

// call runs a macro and returns its text.
func (m *macro) call(r *run, args []Value, named *Map) (Value, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer r.shallower()
	if err := r.step(1); err != nil {
		return nil, err
	}
	f := &frame{slots: make([]Value, len(m.def.function.slots)), outer: m.outer}
	for i := range f.slots {
		f.slots[i] = absent
	}
	if err := m.bind(f, args, named); err != nil {
		return nil, err
	}
	r.load(f, m.def.enter)
	if err := m.defaults(r, f); err != nil {
		return nil, err
	}
	text, _, err := r.capture(func() (flow, error) { return execAll(r, f, m.def.body) })
	return text, err
}

// bind puts the arguments of a call into the macro's variables, as Macro.__call__ does.
func (m *macro) bind(f *frame, args []Value, named *Map) error {
	d := m.def
	rest := NewMap()
	if named != nil {
		rest = named.copy()
	}
	n := min(len(args), len(d.args))
	foundCaller := n == len(d.args) && d.explicitCaller
	for i, a := range d.args {
		if i < n {
			f.slots[a.at.index] = args[i]
			continue
		}
		if a.name == "caller" {
			foundCaller = true
		}
		if v, ok := rest.take(a.name); ok {
			f.slots[a.at.index] = v
		}
	}
	if d.caller != nil && !foundCaller {
		caller, ok := rest.take("caller")
		if !ok || caller == nil {
			caller = &undefined{"No caller defined"}
		}
		f.slots[d.caller.index] = caller
	}
	if d.kwargs != nil {
		f.slots[d.kwargs.index] = rest
	} else if rest.Len() > 0 {
		return faultf("macro %s takes no keyword argument %v", repr(d.name), rest.keys[0])
	}
	if d.varargs != nil {
		f.slots[d.varargs.index] = &tuple{items: args[n:]}
	} else if len(args) > len(d.args) {
		return faultf("macro %s takes not more than %d argument(s)", repr(d.name), len(d.args))
	}
	return nil
}

// defaults fills the parameters that were not given.
func (m *macro) defaults(r *run, f *frame) error {
	d := m.def
	for i, a := range d.args {
		at := &f.slots[a.at.index]
		if *at != absent {
			continue
		}
		k := i - (len(d.args) - len(d.defaults))
		if k < 0 {
			*at = &undefined{"parameter " + repr(a.name) + " was not provided"}
			continue
		}
		v, err := d.defaults[k].eval(r, f)
		if err != nil {
			return err
		}
		*at = v
	}
	return nil
}

// take removes an entry and returns its value.
func (m *Map) take(key string) (Value, bool) {
	i := m.find(key)
	if i < 0 {
		return nil, false
	}
	v := m.vals[i]
	c := &Map{}
	for j, k := range m.keys {
		if j != i {
			h, _ := hashKey(k)
			c.put(h, k, m.vals[j])
		}
	}
	*m = *c
	return v, true
}

func (ns *namespace) set(name string, v Value) error {
	if len(name) > 0 && name[0] == '_' {
		return faultf("chat templates cannot store underscore-prefixed attributes on a namespace, but got %s", repr(name))
	}
	ns.attrs.Set(name, v)
	return nil
}
