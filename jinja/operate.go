package jinja

import (
	"slices"
	"strings"
)

// binary is an arithmetic operation of Python on two values of any types.
func binary(r *run, op kind, a, b Value) (Value, error) {
	if isNumber(a) && isNumber(b) {
		return arithmetic(op, a, b)
	}
	if _, ok := plainText(a); ok && op == "%" {
		return nil, faultf("the operator %% on a str is not supported")
	}
	for _, v := range []Value{a, b} {
		if u, ok := v.(*undefined); ok {
			return nil, faultf("%s", u.why)
		}
	}
	switch op {
	case "+":
		if v, ok, err := add(r, a, b); ok || err != nil {
			return v, err
		}
	case "*":
		if n, ok := toInt(b); ok {
			if v, ok, err := repeat(r, a, n); ok || err != nil {
				return v, err
			}
		}
		if n, ok := toInt(a); ok {
			if v, ok, err := repeat(r, b, n); ok || err != nil {
				return v, err
			}
		}
	}
	return nil, faultf("unsupported operand type(s) for %s: '%s' and '%s'", op, typeName(a), typeName(b))
}

// add concatenates texts, lists or tuples.
func add(r *run, a, b Value) (Value, bool, error) {
	s, okA := plainText(a)
	t, okB := plainText(b)
	if okA && okB {
		_, safeA := a.(markup)
		_, safeB := b.(markup)
		if err := r.built(len(s) + len(t)); err != nil {
			return nil, false, err
		}
		switch {
		case safeA && !safeB:
			return markup(s + escapeHTML(t)), true, nil
		case safeB && !safeA:
			return markup(escapeHTML(s) + t), true, nil
		case safeA:
			return markup(s + t), true, nil
		}
		return s + t, true, nil
	}
	if x, y, ok := bothItems(a, b); ok {
		return likeItems(a, slices.Concat(x, y)), true, r.built(16 * (len(x) + len(y)))
	}
	return nil, false, nil
}

// repeat repeats a text, list or tuple.
func repeat(r *run, v Value, n int64) (Value, bool, error) {
	n = max(n, 0)
	size := func(of, each int) error {
		if of > 0 && n > int64(maxText/(of*each)) {
			return faultf("a value repeated %d times is too large", n)
		}
		return r.built(of * each * int(n))
	}
	if s, ok := plainText(v); ok {
		if s == "" {
			return v, true, nil
		}
		if err := size(len(s), 1); err != nil {
			return nil, false, err
		}
		return marked(strings.Repeat(s, int(n)), isType[markup](v)), true, nil
	}
	items, ok := itemsOf(v)
	if !ok {
		return nil, false, nil
	}
	if err := size(len(items), 16); err != nil || len(items) == 0 {
		return likeItems(v, nil), true, err
	}
	return likeItems(v, slices.Repeat(items, int(n))), true, nil
}
