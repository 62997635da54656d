package jinja

// invoke calls a value.
func invoke(r *run, of Value, args []Value, named *Map) (Value, error) {
	if err := r.step(1); err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case *macro:
		return of.call(r, args, named)
	case *builtin:
		return of.call(r, args, named)
	case *method:
		return callMethod(r, of, args, named)
	case *undefined:
		return nil, faultf("%s", of.why)
	}
	return nil, faultf("'%s' object is not callable", typeName(of))
}

func callMethod(r *run, m *method, args []Value, named *Map) (Value, error) {
	if _, ok := m.of.(string); !ok && named != nil && named.Len() > 0 {
		return nil, faultf("%s() takes no keyword arguments", m.name)
	}
	switch of := m.of.(type) {
	case string:
		return callText(r, of, m.name, args, named)
	case markup:
		return nil, faultf("the method %s of a text marked safe is not supported", m.name)
	case *Map:
		return callMap(of, m.name, args)
	}
	return nil, faultf("the method %s of a %s is not supported", m.name, typeName(m.of))
}

func callMap(m *Map, name string, args []Value) (Value, error) {
	switch name {
	case "items", "keys", "values":
		if len(args) > 0 {
			return nil, faultf("dict.%s() takes no arguments (%d given)", name, len(args))
		}
		return &view{m, name}, nil
	case "get":
		if len(args) < 1 || len(args) > 2 {
			return nil, faultf("get expected 1 or 2 arguments, got %d", len(args))
		}
		v, ok, err := m.get(args[0])
		if err != nil || ok {
			return v, err
		}
		if len(args) == 2 {
			return args[1], nil
		}
		return nil, nil
	}
	return nil, faultf("the method %s of a dict is not supported", name)
}

// parameter is a parameter of a function.
type parameter struct {
	name     string
	optional bool
	value    Value // the default of an optional one
	refused  bool  // no published chat template uses it
}

func required(name string) parameter { return parameter{name: name} }
func optional(name string, value Value) parameter {
	return parameter{name: name, optional: true, value: value}
}
func refused(name string) parameter { return parameter{name: name, optional: true, refused: true} }

// bind sorts arguments into the order of a function's parameters.
func bind(function string, params []parameter, args []Value, named *Map) ([]Value, error) {
	if len(args) > len(params) {
		return nil, faultf("%s takes at most %d arguments (%d given)", function, len(params), len(args))
	}
	out := make([]Value, len(params))
	used := 0
	for i, p := range params {
		var given Value
		var ok bool
		if named != nil {
			if given, ok = named.Get(p.name); ok {
				used++
			}
		}
		switch {
		case p.refused && (ok || i < len(args)):
			return nil, faultf("the argument %s of %s is not supported", p.name, function)
		case i < len(args) && ok:
			return nil, faultf("%s got multiple values for argument %s", function, repr(p.name))
		case i < len(args):
			out[i] = args[i]
		case ok:
			out[i] = given
		case p.optional:
			out[i] = p.value
		default:
			return nil, faultf("%s misses the argument %s", function, repr(p.name))
		}
	}
	if named != nil && used < named.Len() {
		for _, k := range named.keys {
			known := false
			for _, p := range params {
				known = known || p.name == k
			}
			if !known {
				return nil, faultf("%s got an unexpected keyword argument %v", function, k)
			}
		}
	}
	return out, nil
}
