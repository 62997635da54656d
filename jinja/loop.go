package jinja

// loop is what a template knows as loop: it looks one item ahead where it is asked to.
type loop struct {
	r       *run
	next    iterator
	size    int // -1 where it is not known
	index0  int
	depth0  int
	current Value
	before  Value
	after   Value // the item that was looked at ahead
	ahead   bool
	changed *tuple
	recurse func(iter Value, depth int) (Value, error)
}

// iterator gives one item after the other.
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

// advance goes on to the next item.
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

// peek looks at the next item.
func (l *loop) peek() (Value, bool, error) {
	if l.ahead {
		return l.after, true, nil
	}
	v, ok, err := l.next()
	l.after, l.ahead = v, ok
	return v, ok, err
}

// length is the number of items; what has no length is read to its end.
func (l *loop) length() (int, error) {
	if l.size >= 0 {
		return l.size, nil
	}
	var rest []Value
	for {
		v, ok, err := l.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		rest = append(rest, v)
	}
	l.size = len(rest) + l.index0 + 1
	if l.ahead {
		l.size++
	}
	l.next = overItems(l.r, rest)
	return l.size, nil
}

// loopMethods are the attributes of loop that are called.
var loopMethods = []string{"cycle", "changed"}

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
	case "length", "revindex", "revindex0":
		n, err := l.length()
		return int64(n - map[string]int{"length": 0, "revindex": l.index0, "revindex0": l.index0 + 1}[name]), true, err
	case "depth":
		return int64(l.depth0 + 1), true, nil
	case "depth0":
		return int64(l.depth0), true, nil
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
	case "cycle", "changed":
		return &method{l, name}, true, nil
	}
	return nil, false, nil
}

// call calls a method of the loop.
func (l *loop) call(name string, args []Value) (Value, error) {
	if name == "cycle" {
		if len(args) == 0 {
			return nil, faultf("no items for cycling given")
		}
		return args[l.index0%len(args)], nil
	}
	now := &tuple{items: args}
	if l.changed != nil && equal(l.changed, now) {
		return false, nil
	}
	l.changed = now
	return true, nil
}

func (s *forStmt) exec(r *run, f *frame) (flow, error) {
	iter, err := s.iter.eval(r, f)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	if !s.recursive {
		fl, err := s.run(r, f, f, iter, 0)
		return fl, at(s.pos, err)
	}
	text, err := s.recurse(r, f, iter, 0)
	if err != nil {
		return flowOn, at(s.pos, err)
	}
	return flowOn, at(s.pos, r.write(text.(string)))
}

// recurse runs a recursive loop as the function that it is, and returns its text.
func (s *forStmt) recurse(r *run, outer *frame, iter Value, depth int) (Value, error) {
	if err := r.deeper(); err != nil {
		return nil, err
	}
	defer r.shallower()
	f := r.enter(s.recursiveFrame, outer)
	text, _, err := r.capture(func() (flow, error) { return s.run(r, f, outer, iter, depth) })
	return text, err
}

// run runs the loop in its frame; outer is the frame that its condition sees.
func (s *forStmt) run(r *run, f, outer *frame, iter Value, depth int) (flow, error) {
	if s.test != nil {
		filtered, err := s.filtered(r, outer, iter)
		if err != nil {
			return flowOn, err
		}
		iter = filtered
	}
	l, err := newLoop(r, iter)
	if err != nil {
		return flowOn, err
	}
	if s.recursive {
		l.depth0 = depth
		l.recurse = func(iter Value, depth int) (Value, error) { return s.recurse(r, outer, iter, depth) }
	}
	none := true // no turn has come to its end, as Jinja2 sees it
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

// filtered gives the items for which the loop's condition holds, as they are asked for.
func (s *forStmt) filtered(r *run, outer *frame, iter Value) (Value, error) {
	var next iterator
	var f *frame
	return &generator{func() (Value, bool, error) {
		if f == nil {
			f = r.enter(s.testFunction, outer)
			r.load(f, s.enterTest)
			var err error
			if next, err = iterate(r, iter); err != nil {
				return nil, false, err
			}
		}
		for {
			v, ok, err := next()
			if err != nil || !ok {
				return nil, false, err
			}
			if err := assign(r, f, s.testTarget, v); err != nil {
				return nil, false, err
			}
			keep, err := s.test.eval(r, f)
			if err != nil {
				return nil, false, err
			}
			if truth(keep) {
				v, err := s.testTarget.eval(r, f)
				return v, true, err
			}
		}
	}}, nil
}
