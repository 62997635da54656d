package jinja

import "slices"

// macro is a macro or the body of a generation block, with the frame of its definition.
type macro struct {
	def   *macroDef
	outer *frame
}

func (s *macroStmt) exec(r *run, f *frame) (flow, error) {
	*f.slot(s.target.at) = &macro{&s.def, f}
	return flowOn, nil
}

func (s *generationStmt) exec(r *run, f *frame) (flow, error) {
	text, err := (&macro{&s.def, f}).call(r, nil, nil)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	return flowOn, at(s.pos, r.write(text))
}

// call runs a macro and returns its text.
func (m *macro) call(r *run, args []Value, named *Map) (string, error) {
	if err := r.deeper(); err != nil {
		return "", err
	}
	defer r.shallower()
	if err := r.step(1); err != nil {
		return "", err
	}
	f := r.enter(m.def.function, m.outer)
	if err := m.bind(f, args, named); err != nil {
		return "", err
	}
	r.load(f, m.def.enter)
	if err := m.defaults(r, f); err != nil {
		return "", err
	}
	text, _, err := r.capture(func() (flow, error) { return execAll(r, f, m.def.body) })
	return text, err
}

// bind sets the macro's variables to the arguments of a call, like Macro.__call__.
func (m *macro) bind(f *frame, args []Value, named *Map) error {
	d := m.def
	if len(args) > len(d.args) {
		return faultf("macro %s takes not more than %d argument(s)", repr(d.name), len(d.args))
	}
	for i, a := range d.args[:len(args)] {
		f.slots[a.at.index] = args[i]
	}
	if named == nil {
		return nil
	}
	for i, name := range named.keys {
		k := slices.IndexFunc(d.args[len(args):], func(a *nameExpr) bool { return a.name == name })
		if k < 0 {
			return faultf("macro %s takes no keyword argument %v", repr(d.name), name)
		}
		f.slots[d.args[len(args)+k].at.index] = named.vals[i]
	}
	return nil
}

// defaults sets the remaining parameters to their defaults.
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

func (ns *namespace) set(name string, v Value) error {
	if len(name) > 0 && name[0] == '_' {
		return faultf("chat templates cannot store underscore-prefixed attributes on a namespace, but got %s", repr(name))
	}
	ns.attrs.Set(name, v)
	return nil
}
