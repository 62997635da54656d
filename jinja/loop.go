package jinja

import "slices"

// loop is the variable loop. It reads one item ahead when an attribute needs it.
type loop struct {
	r       *run
	next    iterator
	size    int // -1 if unknown
	index0  int
	current Value
	before  Value
	after   Value // the item that was read ahead
	ahead   bool
}

// iterator returns the next item; false after the last one.
type iterator func() (Value, bool, error)

func newLoop(r *run, iter Value) (*loop, error) {
	next, err := iterate(r, iter)
	if err != nil {
		return nil, err
	}
	size, err := lengthOf(iter)
	if err != nil {
		size = -1
	}
	return &loop{r: r, next: next, size: size, index0: -1}, nil
}

// advance moves to the next item.
func (l *loop) advance() (Value, bool, error) {
	v, ok := l.after, l.ahead
	l.after, l.ahead = nil, false
	if !ok {
		var err error
		if v, ok, err = l.next(); err != nil || !ok {
			return nil, false, err
		}
	}
	l.index0++
	l.before, l.current = l.current, v
	return v, true, nil
}

// peek returns the next item without moving to it.
func (l *loop) peek() (Value, bool, error) {
	if l.ahead {
		return l.after, true, nil
	}
	v, ok, err := l.next()
	l.after, l.ahead = v, ok
	return v, ok, err
}

// refusedLoop are the attributes of loop that no published chat template uses.
var refusedLoop = []string{"cycle", "changed", "depth", "depth0", "revindex", "revindex0"}

// attr returns an attribute of the loop.
func (l *loop) attr(name string) (Value, bool, error) {
	switch name {
	case "index0":
		return int64(l.index0), true, nil
	case "index":
		return int64(l.index0 + 1), true, nil
	case "first":
		return l.index0 == 0, true, nil
	case "last":
		_, ok, err := l.peek()
		return !ok, true, err
	case "length":
		if l.size < 0 {
			return nil, false, faultf("the length of a loop over generated items is not supported")
		}
		return int64(l.size), true, nil
	case "previtem":
		if l.index0 == 0 {
			return &undefined{"there is no previous item"}, true, nil
		}
		return l.before, true, nil
	case "nextitem":
		v, ok, err := l.peek()
		if !ok {
			return &undefined{"there is no next item"}, true, err
		}
		return v, true, err
	}
	if slices.Contains(refusedLoop, name) {
		return nil, false, faultf("the attribute %s of a loop is not supported", name)
	}
	return nil, false, nil
}

func (s *forStmt) exec(r *run, f *frame) (flow, error) {
	iter, err := s.iter.eval(r, f)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	fl, err := s.run(r, f, iter)
	return fl, at(s.pos, err)
}

func (s *forStmt) run(r *run, f *frame, iter Value) (flow, error) {
	if s.test != nil {
		iter = s.filtered(r, f, iter)
	}
	l, err := newLoop(r, iter)
	if err != nil {
		return flowOn, err
	}
	none := true // no iteration reached its end, as Jinja2 counts
	for {
		v, ok, err := l.advance()
		if err != nil {
			return flowOn, err
		}
		if !ok {
			break
		}
		if err := r.step(1); err != nil {
			return flowOn, err
		}
		if err := assign(r, f, s.target, v); err != nil {
			return flowOn, err
		}
		if s.extended {
			*f.slot(s.loopAt) = l
		}
		r.load(f, s.enter)
		fl, err := execAll(r, f, s.body)
		if err != nil {
			return flowOn, err
		}
		if fl == flowBreak {
			break
		}
		if fl == flowOn {
			none = false
		}
	}
	f.clear(s.leave)
	if none && s.otherwise != nil {
		r.load(f, s.enterElse)
		fl, err := execAll(r, f, s.otherwise)
		f.clear(s.leaveElse)
		return fl, err
	}
	return flowOn, nil
}

// filtered generates the items that satisfy the loop's condition.
func (s *forStmt) filtered(r *run, outer *frame, iter Value) Value {
	return lazily(func() (iterator, step, error) {
		f := r.enter(s.testFunction, outer)
		r.load(f, s.enterTest)
		next, err := iterate(r, iter)
		return next, func(v Value) (Value, bool, error) {
			if err := assign(r, f, s.testTarget, v); err != nil {
				return nil, false, err
			}
			keep, err := s.test.eval(r, f)
			if err != nil || !truth(keep) {
				return nil, false, err
			}
			v, err = s.testTarget.eval(r, f)
			return v, true, err
		}, err
	})
}
