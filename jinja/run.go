package jinja

import (
	"strings"
	"time"
)

// run is one rendering.
type run struct {
	variables *Map
	now       time.Time
	out       *strings.Builder
	steps     int
	bytes     int
	depth     int
}

// frame contains the variables of a running function.
type frame struct {
	slots []Value
	outer *frame
}

// flow is how a statement ended.
type flow int

const (
	flowOn flow = iota
	flowBreak
	flowContinue
)

// enter starts a function. Its variables are absent, except those that its scope loads.
func (r *run) enter(fn *function, outer *frame) *frame {
	f := &frame{slots: make([]Value, len(fn.slots)), outer: outer}
	for i := range f.slots {
		f.slots[i] = absent
	}
	r.load(f, fn.enter)
	return f
}

// load initializes the variables of a scope.
func (r *run) load(f *frame, loads []load1) {
	for _, l := range loads {
		var v Value = absent
		switch l.how {
		case fromContext:
			v = r.global(l.name)
		case fromOuter:
			v = *f.slot(l.from)
		}
		f.slots[l.to.index] = v
	}
}

// global returns a variable of Render, otherwise a global of Jinja2.
func (r *run) global(name string) Value {
	if v, ok := r.variables.Get(name); ok {
		return v
	}
	if g, ok := globals[name]; ok {
		return g
	}
	return absent
}

func (f *frame) slot(s slot) *Value {
	for i := 0; i < s.out; i++ {
		f = f.outer
	}
	return &f.slots[s.index]
}

// clear removes the variables of a scope at its end.
func (f *frame) clear(leave []slot) {
	for _, s := range leave {
		f.slots[s.index] = absent
	}
}

// step counts n steps and fails if there are too many.
func (r *run) step(n int) error {
	if r.steps += n; r.steps > maxSteps {
		return faultf("the template takes too many steps")
	}
	return nil
}

// looked counts bytes that an operation reads.
func (r *run) looked(bytes int) error { return r.step(1 + bytes/64) }

// built counts the bytes of a new text or list.
func (r *run) built(bytes int) error {
	if bytes > maxText || bytes < 0 {
		return faultf("a value of %d bytes is too large", bytes)
	}
	if r.bytes += bytes; r.bytes > maxBytes {
		return faultf("the template creates too much text")
	}
	return r.step(bytes / 64)
}

// write appends to the output.
func (r *run) write(s string) error {
	if r.out.Len()+len(s) > maxText {
		return faultf("the output is too large")
	}
	r.out.WriteString(s)
	return r.step(len(s) / 256)
}

// deeper starts a nested call; shallower ends it.
func (r *run) deeper() error {
	if r.depth++; r.depth > maxDepth {
		return faultf("calls are nested too deep")
	}
	return nil
}

func (r *run) shallower() { r.depth-- }

// capture runs do and returns its output instead of writing it.
func (r *run) capture(do func() (flow, error)) (string, flow, error) {
	kept := r.out
	r.out = new(strings.Builder)
	fl, err := do()
	text := r.out.String()
	r.out = kept
	if err == nil {
		err = r.built(len(text))
	}
	return text, fl, err
}
