package jinja

import (
	"math"
	"slices"
)

// Jinja2 computes constant expressions when it parses a template. This is visible: an impossible slice
// is then undefined instead of an error, and a number that is not finite cannot be written into its
// program. So this package folds constants by the same rules.

// fold computes the constant expressions in statements.
func fold(list []stmt) error {
	const share = 20 // a twentieth of the limits of a rendering
	f := &folding{r: &run{variables: NewMap(), folding: true, steps: maxSteps - maxSteps/share, bytes: maxBytes - maxBytes/share}}
	f.body(list)
	return f.err
}

// folding traverses a template up to its first error.
type folding struct {
	r   *run
	err error
}

func (f *folding) body(list []stmt) {
	for i, s := range list {
		if f.err != nil {
			return
		}
		if o, ok := s.(*outputStmt); ok {
			if text, ok := f.constantText(o.of); ok {
				list[i] = &textStmt{text}
				continue
			}
		}
		f.stmt(s)
	}
}

// constantText is the text of an output that is entirely constant.
func (f *folding) constantText(e expr) (string, bool) {
	v, ok := f.constant(e)
	if !ok {
		return "", false
	}
	text, err := toText(v)
	return text, err == nil
}

// constant evaluates an expression, which fails if it depends on a variable that is read.
func (f *folding) constant(e expr) (Value, bool) {
	if f.r.step(1) != nil {
		return nil, false // too expensive: left to the rendering
	}
	v, err := e.eval(f.r, nil)
	return v, err == nil
}

// errNotConstant ends the evaluation of an expression that is not constant.
var errNotConstant = faultf("not constant")

// folded returns the expression with its constant parts computed.
func (f *folding) folded(e expr) expr {
	if _, ok := e.(*constExpr); ok {
		return e
	}
	f.parts(e)
	v, ok := f.constant(e)
	finite := true
	if !ok || f.err != nil || !isPlain(v, 0, &finite) {
		return e
	}
	if !finite {
		f.err = faultf("a constant is not finite")
	}
	return literal(v)
}

// literal is an expression with a given value. It makes new lists and maps each time.
func literal(v Value) expr {
	switch v := v.(type) {
	case *List:
		return &listExpr{literals(v.items)}
	case *tuple:
		return &tupleExpr{literals(v.items)}
	case *Map:
		return &dictExpr{keys: literals(v.keys), values: literals(v.vals), pos: -1}
	}
	return &constExpr{v}
}

func literals(items []Value) []expr {
	out := make([]expr, len(items))
	for i, v := range items {
		out[i] = literal(v)
	}
	return out
}

// isPlain reports whether a value can be written into a program. It clears finite if the value contains
// a float that is not finite.
func isPlain(v Value, depth int, finite *bool) bool {
	var items []Value
	switch v := v.(type) {
	case *List, *tuple:
		items, _ = itemsOf(v)
	case *Map:
		items = slices.Concat(v.keys, v.vals)
	case nil, string, markup:
		return true
	case float64:
		*finite = *finite && !math.IsInf(v, 0) && !math.IsNaN(v)
		return true
	default:
		return isNumber(v)
	}
	return depth < maxNested && !slices.ContainsFunc(items, func(v Value) bool { return !isPlain(v, depth+1, finite) })
}

func (f *folding) at(pos int, list ...*expr) {
	for _, e := range list {
		if *e == nil || f.err != nil {
			continue
		}
		*e = f.folded(*e)
		f.err = at(pos, f.err)
	}
}

// written folds expressions of a statement. Lists, tuples and maps in them are not computed, only their
// constant parts: both values of a duplicate key are computed during rendering, and an impossible key
// is an error then. Within other expressions they are computed entirely.
func (f *folding) written(pos int, list ...*expr) {
	for _, at := range list {
		switch e := (*at).(type) {
		case *listExpr:
			f.allWritten(pos, e.items)
		case *tupleExpr:
			f.allWritten(pos, e.items)
		case *dictExpr:
			f.allWritten(e.pos, e.keys, e.values)
		default:
			f.at(pos, at)
		}
	}
}

func (f *folding) allWritten(pos int, lists ...[]expr) {
	for _, list := range lists {
		for i := range list {
			f.written(pos, &list[i])
		}
	}
}

func (f *folding) all(pos int, lists ...[]expr) {
	for _, list := range lists {
		for i := range list {
			f.at(pos, &list[i])
		}
	}
}

func (f *folding) arguments(pos int, a *arguments) {
	f.all(pos, a.args, a.named)
	f.at(pos, &a.star)
}

// parts folds the parts of an expression.
func (f *folding) parts(e expr) {
	switch e := e.(type) {
	case *tupleExpr:
		f.all(-1, e.items)
	case *listExpr:
		f.all(-1, e.items)
	case *dictExpr:
		f.all(e.pos, e.keys, e.values)
	case *condExpr:
		f.at(-1, &e.test, &e.then, &e.otherwise)
	case *logicExpr:
		f.at(-1, &e.left, &e.right)
	case *notExpr:
		f.at(-1, &e.of)
	case *unaryExpr:
		f.at(e.pos, &e.of)
	case *binaryExpr:
		f.at(e.pos, &e.left, &e.right)
	case *concatExpr:
		f.all(-1, e.parts)
	case *compareExpr:
		f.at(e.pos, &e.left)
		f.all(e.pos, e.rights)
	case *attrExpr:
		f.at(e.pos, &e.of)
	case *itemExpr:
		f.at(e.pos, &e.of, &e.arg)
	case *sliceExpr:
		f.at(e.pos, &e.of, &e.start, &e.stop, &e.step)
	case *callExpr:
		f.at(e.pos, &e.of)
		f.arguments(e.pos, &e.arguments)
	case *filterExpr:
		f.at(e.pos, &e.of)
		f.arguments(e.pos, &e.arguments)
	case *testExpr:
		f.at(e.pos, &e.of)
		f.arguments(e.pos, &e.arguments)
	}
}

// stmt folds the expressions of a statement and of the statements within it.
func (f *folding) stmt(s stmt) {
	var bodies [][]stmt
	switch s := s.(type) {
	case *outputStmt:
		f.written(s.pos, &s.of)
	case *ifStmt:
		f.written(-1, &s.test)
		bodies = [][]stmt{s.body, s.otherwise}
		for _, e := range s.elifs {
			f.stmt(e)
		}
	case *forStmt:
		f.written(s.pos, &s.iter, &s.test)
		bodies = [][]stmt{s.body, s.otherwise}
	case *setStmt:
		f.written(s.pos, &s.value)
	case *setBlockStmt:
		if s.filter != nil {
			f.arguments(s.pos, &s.filter.arguments)
		}
		bodies = [][]stmt{s.body}
	case *macroStmt:
		f.allWritten(s.pos, s.def.defaults)
		bodies = [][]stmt{s.def.body}
	case *generationStmt:
		bodies = [][]stmt{s.def.body}
	case *filterStmt:
		f.arguments(s.pos, &s.filter.arguments)
		bodies = [][]stmt{s.body}
	}
	for _, body := range bodies {
		f.body(body)
	}
}
