package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// getter returns what looks an attribute up, by Jinja2's rules: dots go deeper, digits
// are indices. fallback stands for what is undefined, where it is not None; after is
// applied to what is found.
func getter(r *run, attr Value, fallback Value, after func(Value) Value) func(Value) (Value, error) {
	parts := attributeParts(attr)
	return func(v Value) (Value, error) {
		for _, part := range parts {
			var err error
			if v, err = item(r, v, part); err != nil {
				return nil, err
			}
			if _, ok := v.(*undefined); ok && fallback != nil {
				v = fallback
			}
		}
		if after != nil {
			v = after(v)
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

// multiGetter looks several attributes up, separated by commas, into one key.
func multiGetter(r *run, attr Value, after func(Value) Value) func(Value) (Value, error) {
	split := []Value{attr}
	if s, ok := plainText(attr); ok {
		split = nil
		for _, p := range strings.Split(s, ",") {
			split = append(split, p)
		}
	}
	var getters []func(Value) (Value, error)
	for _, a := range split {
		getters = append(getters, getter(r, a, nil, after))
	}
	return func(v Value) (Value, error) {
		key := &List{}
		for _, get := range getters {
			k, err := get(v)
			if err != nil {
				return nil, err
			}
			key.items = append(key.items, k)
		}
		return key, nil
	}
}

// foldUnless makes texts lower case unless case matters.
func foldUnless(caseSensitive Value) func(Value) Value {
	if truth(caseSensitive) {
		return nil
	}
	return func(v Value) Value {
		if s, ok := plainText(v); ok {
			return lower(s)
		}
		return v
	}
}

// sortBy is Python's sorted with a key.
func sortBy(r *run, items []Value, key func(Value) (Value, error), reverse bool) ([]Value, error) {
	type keyed struct{ key, item Value }
	list := make([]keyed, len(items))
	for i, v := range items {
		k, err := key(v)
		if err != nil {
			return nil, err
		}
		list[i] = keyed{k, v}
	}
	if err := r.built(48 * len(items)); err != nil {
		return nil, err
	}
	if reverse {
		slices.Reverse(list)
	}
	var failed error
	slices.SortStableFunc(list, func(a, b keyed) int {
		c, _, err := order(a.key, b.key, 0)
		if err == nil {
			err = r.step(1)
		}
		if err != nil && failed == nil {
			failed = err
		}
		return c
	})
	if reverse {
		slices.Reverse(list)
	}
	out := make([]Value, len(list))
	for i, k := range list {
		out[i] = k.item
	}
	return out, failed
}

func sortFilter(r *run, v Value, a []Value) (Value, error) {
	items, err := listOf(r, v)
	if err != nil {
		return nil, err
	}
	items, err = sortBy(r, items, multiGetter(r, a[2], foldUnless(a[1])), truth(a[0]))
	return &List{items}, err
}

func dictSortFilter(r *run, v Value, a []Value) (Value, error) {
	place := 0
	switch a[1] {
	case "key":
	case "value":
		place = 1
	default:
		return nil, faultf("You can only sort by either \"key\" or \"value\"")
	}
	m, ok := v.(*Map)
	if !ok {
		return nil, faultf("dictsort of a %s", typeName(v))
	}
	fold := foldUnless(a[0])
	items, err := sortBy(r, (&view{m, "items"}).items(), func(v Value) (Value, error) {
		k := v.(*tuple).items[place]
		if fold != nil {
			k = fold(k)
		}
		return k, nil
	}, truth(a[2]))
	return &List{items}, err
}

func mapFilter(r *run, v Value, args []Value, named *Map) (Value, error) {
	var apply func(Value) (Value, error)
	var next iterator
	return &generator{func() (Value, bool, error) {
		if !truthOnce(v, next) {
			return nil, false, nil
		}
		if next == nil {
			var err error
			if apply, err = mapper(r, args, named); err != nil {
				return nil, false, err
			}
			if next, err = iterate(r, v); err != nil {
				return nil, false, err
			}
		}
		item, ok, err := next()
		if err != nil || !ok {
			return nil, false, err
		}
		w, err := apply(item)
		return w, true, err
	}}, nil
}

// truthOnce is the look that map and select take at their value before they begin.
func truthOnce(v Value, begun iterator) bool { return begun != nil || truth(v) }

// mapper returns what map does to an item: a filter by name, or the look at an attribute.
func mapper(r *run, args []Value, named *Map) (func(Value) (Value, error), error) {
	if len(args) == 0 && named != nil {
		if attr, ok := named.Get("attribute"); ok {
			fallback, _ := named.Get("default")
			for _, k := range named.keys {
				if k != "attribute" && k != "default" {
					return nil, faultf("Unexpected keyword argument %v", k)
				}
			}
			return getter(r, attr, fallback, nil), nil
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
		var judge func(Value) (bool, error)
		var next iterator
		return &generator{func() (Value, bool, error) {
			if !truthOnce(v, next) {
				return nil, false, nil
			}
			if next == nil {
				var err error
				if judge, err = judgeOf(r, args, named, byAttribute); err != nil {
					return nil, false, err
				}
				if next, err = iterate(r, v); err != nil {
					return nil, false, err
				}
			}
			for {
				item, ok, err := next()
				if err != nil || !ok {
					return nil, false, err
				}
				yes, err := judge(item)
				if err != nil || yes == keep {
					return item, true, err
				}
			}
		}}, nil
	}
}

// judgeOf returns the test that select and its kin apply to an item.
func judgeOf(r *run, args []Value, named *Map, byAttribute bool) (func(Value) (bool, error), error) {
	get := func(v Value) (Value, error) { return v, nil }
	if byAttribute {
		if len(args) == 0 {
			return nil, faultf("Missing parameter for attribute name")
		}
		get = getter(r, args[0], nil, nil)
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
