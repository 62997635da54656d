package jinja

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// getter returns a function that looks up an attribute as Jinja2 does: dots separate names, and digits
// are indices.
func getter(r *run, attr Value) func(Value) (Value, error) {
	parts := attributeParts(attr)
	return func(v Value) (Value, error) {
		for _, part := range parts {
			var err error
			if v, err = item(r, v, part); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
}

func attributeParts(attr Value) []Value {
	s, ok := plainText(attr)
	switch {
	case attr == nil:
		return nil
	case !ok:
		return []Value{attr}
	}
	var parts []Value
	for _, p := range strings.Split(s, ".") {
		if each(isDigit)(p) {
			if n, err := strconv.ParseInt(p, 10, 64); err == nil {
				parts = append(parts, n)
				continue
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// sorted is Python's sorted with a key; texts are compared in lower case.
func sorted(r *run, items []Value, key func(Value) Value) (Value, error) {
	type keyed struct{ key, item Value }
	list := make([]keyed, len(items))
	for i, v := range items {
		k := key(v)
		if s, ok := plainText(k); ok {
			k = lower(s)
		}
		list[i] = keyed{&List{[]Value{k}}, v} // a list, because two equal keys need no order, even if they are None
	}
	if err := r.built(48 * len(items)); err != nil {
		return nil, err
	}
	var failed error
	slices.SortStableFunc(list, func(a, b keyed) int {
		c, _, err := order(a.key, b.key, 0)
		failed = cmp.Or(failed, err, r.step(1))
		return c
	})
	out := &List{make([]Value, len(list))}
	for i, k := range list {
		out.items[i] = k.item
	}
	return out, failed
}

func sortFilter(r *run, v Value, _ []Value) (Value, error) {
	items, err := listOf(r, v)
	if err != nil {
		return nil, err
	}
	return sorted(r, items, func(v Value) Value { return v })
}

func dictSortFilter(r *run, v Value, _ []Value) (Value, error) {
	m, ok := v.(*Map)
	if !ok {
		return nil, faultf("dictsort of a %s", typeName(v))
	}
	return sorted(r, (&view{m, "items"}).items(), func(v Value) Value { return v.(*tuple).items[0] })
}

func mapFilter(r *run, v Value, args []Value, named *Map) (Value, error) {
	return eachItem(r, v, func() (step, error) {
		apply, err := mapper(r, args, named)
		return func(item Value) (Value, bool, error) {
			w, err := apply(item)
			return w, true, err
		}, err
	}), nil
}

// step converts an item and reports whether to keep it.
type step func(Value) (Value, bool, error)

// eachItem is a lazy generator over the items of v. It calls begin before the first one, unless v is
// empty.
func eachItem(r *run, v Value, begin func() (step, error)) *generator {
	return lazily(func() (iterator, step, error) {
		if !truth(v) {
			return overItems(nil), nil, nil
		}
		each, err := begin()
		if err != nil {
			return nil, nil, err
		}
		next, err := iterate(r, v)
		return next, each, err
	})
}

// lazily makes a generator that calls begin when its first item is requested.
func lazily(begin func() (iterator, step, error)) *generator {
	var next iterator
	var each step
	return &generator{func() (Value, bool, error) {
		if next == nil {
			var err error
			if next, each, err = begin(); err != nil {
				return nil, false, err
			}
		}
		for {
			item, ok, err := next()
			if err != nil || !ok {
				return nil, false, err
			}
			if w, keep, err := each(item); err != nil || keep {
				return w, true, err
			}
		}
	}}
}

// mapper returns the function that map applies to an item: a filter, or the lookup of an attribute.
func mapper(r *run, args []Value, named *Map) (func(Value) (Value, error), error) {
	if len(args) == 0 && named != nil {
		if attr, ok := named.Get("attribute"); ok {
			if named.Len() > 1 {
				return nil, faultf("an argument of map beside attribute is not supported")
			}
			return getter(r, attr), nil
		}
	}
	if len(args) == 0 {
		return nil, faultf("map requires a filter argument")
	}
	name, _ := plainText(args[0])
	f, err := findFilter(name)
	if err != nil {
		return func(Value) (Value, error) { return nil, err }, nil
	}
	return func(v Value) (Value, error) { return f.call(r, v, args[1:], named) }, nil
}

// selectFilter is select, reject, selectattr or rejectattr.
func selectFilter(keep, byAttribute bool) func(*run, Value, []Value, *Map) (Value, error) {
	return func(r *run, v Value, args []Value, named *Map) (Value, error) {
		return eachItem(r, v, func() (step, error) {
			judge, err := judgeOf(r, args, named, byAttribute)
			return func(item Value) (Value, bool, error) {
				yes, err := judge(item)
				return item, yes == keep, err
			}, err
		}), nil
	}
}

// judgeOf returns the test that select and the like apply to an item.
func judgeOf(r *run, args []Value, named *Map, byAttribute bool) (func(Value) (bool, error), error) {
	get := func(v Value) (Value, error) { return v, nil }
	if byAttribute {
		if len(args) == 0 {
			return nil, faultf("Missing parameter for attribute name")
		}
		get = getter(r, args[0])
		args = args[1:]
	}
	if len(args) == 0 {
		return func(v Value) (bool, error) {
			w, err := get(v)
			return truth(w), err
		}, nil
	}
	name, _ := plainText(args[0])
	t, unknown := findTest(name)
	return func(v Value) (bool, error) {
		w, err := get(v)
		if err != nil {
			return false, err
		}
		if unknown != nil {
			return false, unknown
		}
		yes, err := t.call(r, w, args[1:], named)
		return truth(yes), err
	}, nil
}
