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
	case *loop:
		return callLoop(of, args, named)
	case *undefined:
		return nil, faultf("%s", of.why)
	}
	return nil, faultf("'%s' object is not callable", typeName(of))
}

// callLoop is loop(items) in a recursive loop.
func callLoop(l *loop, args []Value, named *Map) (Value, error) {
	if l.recurse == nil {
		return nil, faultf("The loop must have the 'recursive' marker to be called recursively.")
	}
	a, err := bind("loop", []parameter{{name: "iterable"}}, args, named)
	if err != nil {
		return nil, err
	}
	return l.recurse(a[0], l.depth0+1)
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
	case *loop:
		return of.call(m.name, args)
	case *Map:
		return callMap(of, m.name, args)
	case *List:
		return callList(r, of.items, m.name, args)
	case *tuple:
		return callList(r, of.items, m.name, args)
	case float64:
		if m.name == "is_integer" && len(args) == 0 {
			return of == float64(int64(of)), nil
		}
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
	case "copy":
		if len(args) > 0 {
			return nil, faultf("dict.copy() takes no arguments (%d given)", len(args))
		}
		return m.copy(), nil
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

// callList calls a method of a list, a tuple too where it has it.
func callList(r *run, items []Value, name string, args []Value) (Value, error) {
	if err := r.step(1 + len(items)/8); err != nil {
		return nil, err
	}
	switch name {
	case "copy":
		if len(args) > 0 {
			return nil, faultf("list.copy() takes no arguments (%d given)", len(args))
		}
		return &List{append([]Value(nil), items...)}, r.built(16 * len(items))
	case "count":
		if len(args) != 1 {
			return nil, faultf("count() takes exactly one argument (%d given)", len(args))
		}
		n := int64(0)
		for _, item := range items {
			if same(item, args[0], 0) {
				n++
			}
		}
		return n, nil
	case "index":
		if len(args) < 1 || len(args) > 3 {
			return nil, faultf("index expected 1 to 3 arguments, got %d", len(args))
		}
		start, end, err := searchBounds(args[1:], len(items))
		if err != nil {
			return nil, err
		}
		for i := start; i < end; i++ {
			if same(items[i], args[0], 0) {
				return int64(i), nil
			}
		}
		return nil, faultf("value is not in list")
	}
	return nil, faultf("the method %s of a list is not supported", name)
}

// searchBounds reads the optional start and end of a search among n.
func searchBounds(args []Value, n int) (start, end int, err error) {
	bounds := [3]Value{}
	copy(bounds[:2], args)
	for _, b := range args {
		if _, ok := toBig(b); !ok && b != nil {
			return 0, 0, faultf("slice indices must be integers or None or have an __index__ method")
		}
	}
	start, end, _, err = sliceEnds(bounds, n)
	return start, end, err
}

// parameter is one of a function's.
type parameter struct {
	name     string
	optional bool
	value    Value // where it is optional and not given
}

func required(name string) parameter              { return parameter{name: name} }
func optional(name string, value Value) parameter { return parameter{name, true, value} }

// bind puts arguments in the order of a function's parameters.
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
