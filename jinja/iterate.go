package jinja

import "slices"

// itemsOf returns the items of a list or tuple; false for other types.
func itemsOf(v Value) ([]Value, bool) {
	switch v := v.(type) {
	case *List:
		return v.items, true
	case *tuple:
		return v.items, true
	}
	return nil, false
}

// bothItems returns the items of two lists or two tuples; false for other types.
func bothItems(a, b Value) (x, y []Value, ok bool) {
	x, okX := itemsOf(a)
	y, okY := itemsOf(b)
	return x, y, okX && okY && isType[*tuple](a) == isType[*tuple](b)
}

// likeItems makes a tuple if v is one, otherwise a list.
func likeItems(v Value, items []Value) Value {
	if isType[*tuple](v) {
		return &tuple{items}
	}
	return &List{items}
}

// overItems iterates over items.
func overItems(items []Value) iterator {
	i := 0
	return func() (Value, bool, error) {
		if i >= len(items) {
			return nil, false, nil
		}
		i++
		return items[i-1], true, nil
	}
}

// iterate is Python's iter(v).
func iterate(r *run, v Value) (iterator, error) {
	switch v := v.(type) {
	case *List, *tuple:
		items, _ := itemsOf(v)
		return overItems(items), nil
	case *Map:
		return overItems(v.keys), nil
	case *view:
		return overItems(v.items()), nil
	case string:
		return overText(v, func(s string) Value { return s }), nil
	case markup:
		return overText(string(v), func(s string) Value { return s }), nil
	case *undefined:
		return overItems(nil), nil
	case span:
		i, n := int64(0), v.len()
		return func() (Value, bool, error) {
			if i >= n {
				return nil, false, nil
			}
			i++
			return v.start + (i-1)*v.step, true, nil
		}, nil
	case *generator:
		return func() (Value, bool, error) {
			if err := r.step(1); err != nil {
				return nil, false, err
			}
			return v.next()
		}, nil
	}
	return nil, faultf("'%s' object is not iterable", typeName(v))
}

func overText(s string, wrap func(string) Value) iterator {
	return func() (Value, bool, error) {
		if s == "" {
			return nil, false, nil
		}
		_, n := decodeRune(s)
		c := s[:n]
		s = s[n:]
		return wrap(c), true, nil
	}
}

// listOf returns the items of Python's list(v).
func listOf(r *run, v Value) ([]Value, error) {
	if items, ok := itemsOf(v); ok {
		return slices.Clone(items), r.built(16 * len(items))
	}
	next, err := iterate(r, v)
	if err != nil {
		return nil, err
	}
	var out []Value
	for {
		item, ok, err := next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return out, nil
		}
		out = append(out, item)
		if err := r.built(128); err != nil {
			return nil, err
		}
	}
}

// lengthOf is Python's len(v).
func lengthOf(v Value) (int, error) {
	switch v := v.(type) {
	case string:
		return length(v), nil
	case markup:
		return length(string(v)), nil
	case *List, *tuple:
		items, _ := itemsOf(v)
		return len(items), nil
	case *Map:
		return len(v.keys), nil
	case *view:
		return len(v.m.keys), nil
	case span:
		return int(v.len()), nil
	case *undefined:
		return 0, nil
	case *loop:
		return 0, faultf("the length of a loop is not supported")
	}
	return 0, faultf("object of type '%s' has no len()", typeName(v))
}

// len returns the number of integers in a range.
func (s span) len() int64 {
	switch {
	case s.step > 0 && s.start < s.stop:
		return (s.stop-s.start-1)/s.step + 1
	case s.step < 0 && s.start > s.stop:
		return (s.start-s.stop-1)/(-s.step) + 1
	}
	return 0
}

// items are the items of a view.
func (v *view) items() []Value {
	switch v.kind {
	case "keys":
		return v.m.keys
	case "values":
		return v.m.vals
	}
	out := make([]Value, len(v.m.keys))
	for i, k := range v.m.keys {
		out[i] = &tuple{items: []Value{k, v.m.vals[i]}}
	}
	return out
}

// reversed is Python's reversed(v).
func reversed(r *run, v Value) (iterator, error) {
	switch v := v.(type) {
	case *generator, *loop, nil, bool, int64, float64, *namespace, *macro, *method, *builtin:
		return nil, faultf("'%s' object is not reversible", typeName(v))
	}
	items, err := listOf(r, v)
	if err != nil {
		return nil, err
	}
	slices.Reverse(items)
	return overItems(items), nil
}
