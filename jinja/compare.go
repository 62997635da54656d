package jinja

import (
	"math"
	"math/big"
	"strings"
)

// truth is Python's bool(v).
func truth(v Value) bool {
	switch v := v.(type) {
	case nil, *undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case markup:
		return v != ""
	}
	n, err := lengthOf(v)
	return err != nil || n > 0
}

// plainText returns the content of a text, whether or not it is marked safe.
func plainText(v Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case markup:
		return string(v), true
	}
	return "", false
}

// equal is Python's a == b.
func equal(a, b Value) bool { return equalDeep(a, b, 0) }

func equalDeep(a, b Value, depth int) bool {
	if depth > maxNested {
		return false
	}
	if s, ok := plainText(a); ok {
		t, ok := plainText(b)
		return ok && s == t
	}
	if isNumber(a) && isNumber(b) {
		c, ok := compareNumbers(a, b)
		return ok && c == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case *undefined:
		_, ok := b.(*undefined)
		return ok
	case *List, *tuple:
		x, y, ok := bothItems(a, b)
		return ok && equalItems(x, y, depth)
	case *Map:
		b, ok := b.(*Map)
		return ok && equalMaps(a, b, depth)
	case span:
		b, ok := b.(span)
		n := a.len()
		return ok && n == b.len() && (n == 0 || a.start == b.start && (n == 1 || a.step == b.step))
	case *view:
		b, ok := b.(*view)
		return ok && equalViews(a, b, depth)
	}
	return a == b
}

// same is equality as Python's containers use it: what is identical is equal, a NaN too.
func same(a, b Value, depth int) bool {
	if x, ok := a.(float64); ok && math.IsNaN(x) {
		return false
	}
	return equalDeep(a, b, depth+1)
}

func equalItems(a, b []Value, depth int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i], depth) {
			return false
		}
	}
	return true
}

func equalMaps(a, b *Map, depth int) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	for i, k := range a.keys {
		v, ok, err := b.get(k)
		if err != nil || !ok || !same(a.vals[i], v, depth) {
			return false
		}
	}
	return true
}

// equalViews compares keys and items as sets. Views of values are equal only if they are identical.
func equalViews(a, b *view, depth int) bool {
	if a.kind == "values" || b.kind == "values" {
		return a == b
	}
	x, y := a.items(), b.items()
	if len(x) != len(y) {
		return false
	}
	for _, v := range x {
		found := false
		for _, w := range y {
			found = found || same(v, w, depth)
		}
		if !found {
			return false
		}
	}
	return true
}

// Hash keys of values whose types cannot be compared.
type (
	noneKey  struct{}
	undefKey struct{}
	bigKey   struct{ text string }
)

// hashKey returns the key of a value in a Go map. Equal values have equal keys.
func hashKey(v Value) (any, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case markup:
		return string(v), nil
	case nil:
		return noneKey{}, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		return v, nil
	case *big.Int:
		return bigKey{v.String()}, nil
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			n, _ := new(big.Float).SetFloat64(v).Int(nil)
			return hashKey(fromBig(n))
		}
		return v, nil
	case *undefined:
		return undefKey{}, nil
	case *tuple:
		return nil, faultf("a tuple as a key is not supported")
	case *List, *Map, *view:
		return nil, faultf("unhashable type: '%s'", typeName(v))
	}
	return v, nil
}

// contains is Python's v in c.
func contains(r *run, c, v Value) (bool, error) {
	if s, ok := plainText(c); ok {
		t, ok := plainText(v)
		if !ok {
			return false, faultf("'in <string>' requires string as left operand, not %s", typeName(v))
		}
		return strings.Contains(s, t), r.looked(len(s))
	}
	switch c := c.(type) {
	case *Map:
		_, ok, err := c.get(v)
		return ok, err
	case *view:
		if c.kind == "keys" {
			_, ok, err := c.m.get(v)
			return ok, err
		}
	case *List, *tuple:
		items, _ := itemsOf(c)
		return containsItem(r, items, v)
	}
	next, err := iterate(r, c)
	if err != nil {
		return false, faultf("argument of type '%s' is not iterable", typeName(c))
	}
	for {
		item, ok, err := next()
		if err != nil || !ok {
			return false, err
		}
		if same(item, v, 0) {
			return true, nil
		}
		if err := r.step(1); err != nil {
			return false, err
		}
	}
}

func containsItem(r *run, items []Value, v Value) (bool, error) {
	for _, item := range items {
		if same(item, v, 0) {
			return true, nil
		}
	}
	return false, r.step(1 + len(items)/8)
}

// compare is a comparison in Python.
func compare(r *run, op kind, a, b Value) (bool, error) {
	switch op {
	case "==":
		if s, ok := a.(string); ok {
			t, ok := plainText(b)
			return ok && s == t, nil
		}
		return equal(a, b), r.step(1)
	case "!=":
		return !equal(a, b), r.step(1)
	case "in":
		return contains(r, b, a)
	case "not in":
		ok, err := contains(r, b, a)
		return !ok, err
	}
	return ordered3(op, a, b)
}

// ordered3 is <, <=, > or >=.
func ordered3(op kind, a, b Value) (bool, error) {
	c, known, err := order(a, b, 0)
	if err != nil {
		return false, faultf("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	}
	if !known {
		return false, nil // a NaN
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

// order compares numbers, texts, lists or tuples; known is false for NaN. Python orders no other types.
func order(a, b Value, depth int) (c int, known bool, err error) {
	if isNumber(a) && isNumber(b) {
		c, known = compareNumbers(a, b)
		return c, known, nil
	}
	if s, ok := plainText(a); ok {
		if t, ok := plainText(b); ok {
			return strings.Compare(s, t), true, nil
		}
	}
	if x, y, ok := bothItems(a, b); ok {
		return orderItems(x, y, depth)
	}
	return 0, false, faultf("'<' not supported between instances of '%s' and '%s'", typeName(a), typeName(b))
}

func orderItems(a, b []Value, depth int) (int, bool, error) {
	if depth > maxNested {
		return 0, false, faultf("values are nested too deep")
	}
	for i := 0; i < len(a) && i < len(b); i++ {
		if !same(a[i], b[i], depth) {
			return order(a[i], b[i], depth+1)
		}
	}
	return len(a) - len(b), true, nil
}
