package jinja

import (
	"slices"
	"strings"
)

// test is a test of Jinja2, of the value only or with arguments.
type test struct {
	one    func(v Value) (Value, error)
	params []parameter
	more   func(r *run, v Value, a []Value) (Value, error)
}

var tests map[string]*test

// refusedTests are the tests of Jinja2 that no published chat template uses.
var refusedTests = strings.Fields("callable divisibleby escaped filter lower sameas test upper")

// findTest returns a test by name. The error names a refused or unknown one.
func findTest(name string) (*test, error) {
	if t, ok := tests[name]; ok {
		return t, nil
	}
	if slices.Contains(refusedTests, name) {
		return nil, faultf("the test %s is not supported", name)
	}
	return nil, faultf("unknown test %s", name)
}

func (t *test) call(r *run, v Value, args []Value, named *Map) (Value, error) {
	a, err := bind("the test", t.params, args, named)
	if err != nil {
		return nil, err
	}
	if t.one != nil {
		return t.one(v)
	}
	return t.more(r, v, a)
}

func init() {
	is := func(yes func(Value) bool) *test {
		return &test{one: func(v Value) (Value, error) { return yes(v), nil }}
	}
	compares := func(op kind) *test {
		return &test{params: []parameter{required("other")}, more: func(r *run, v Value, a []Value) (Value, error) {
			return compare(r, op, v, a[0])
		}}
	}
	remainder := func(by, want int64) *test {
		return &test{one: func(v Value) (Value, error) {
			m, err := binary(&run{}, "%", v, by)
			return err == nil && equal(m, want), err
		}}
	}
	tests = map[string]*test{
		"defined":   is(func(v Value) bool { return !isType[*undefined](v) }),
		"undefined": is(isType[*undefined]),
		"none":      is(func(v Value) bool { return v == nil }),
		"boolean":   is(isType[bool]),
		"true":      is(func(v Value) bool { return v == true }),
		"false":     is(func(v Value) bool { return v == false }),
		"integer":   is(func(v Value) bool { return isNumber(v) && !isType[float64](v) && !isType[bool](v) }),
		"float":     is(isType[float64]),
		"number":    is(isNumber),
		"string":    is(func(v Value) bool { return isType[string](v) || isType[markup](v) }),
		"mapping":   is(isType[*Map]),
		"sequence":  is(isSequence),
		"iterable":  is(isIterable),
		"odd":       remainder(2, 1), "even": remainder(2, 0),
		"in": {params: []parameter{required("seq")}, more: func(r *run, v Value, a []Value) (Value, error) { return contains(r, a[0], v) }},
	}
	for op, names := range map[kind][]string{"==": {"==", "eq", "equalto"}, "!=": {"!=", "ne"}, ">": {">", "gt", "greaterthan"},
		">=": {">=", "ge"}, "<": {"<", "lt", "lessthan"}, "<=": {"<=", "le"}} {
		for _, name := range names {
			tests[name] = compares(op)
		}
	}
}

func isType[T any](v Value) bool {
	_, ok := v.(T)
	return ok
}

func isSequence(v Value) bool {
	switch v.(type) {
	case string, markup, *List, *tuple, *Map, span, *undefined:
		return true
	}
	return false
}

func isIterable(v Value) bool {
	return isSequence(v) || slices.Contains([]bool{isType[*view](v), isType[*generator](v), isType[*loop](v)}, true)
}
