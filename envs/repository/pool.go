package repository

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"relabel"
)

// idleLimit is how long a reader without work lives.
const idleLimit = time.Minute

// pool lends readers. At most size work at once, and at most size more wait for work.
type pool struct {
	start func(dir string) (*reader, error)
	size  int
	idle  time.Duration
	slots chan struct{}

	mu     sync.Mutex
	free   []*freeReader // the one released last comes last
	closed bool
}

type freeReader struct {
	*reader
	timer *time.Timer
}

func newPool(start func(dir string) (*reader, error)) *pool {
	size := max(4, 2*runtime.GOMAXPROCS(0))
	return &pool{start: start, size: size, idle: idleLimit, slots: make(chan struct{}, size)}
}

// lend returns a reader of a mirror, which must be released. It waits for one if size are at work.
func (p *pool) lend(ctx context.Context, dir string) (*reader, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, err := p.take(dir)
	if r == nil && err == nil {
		r, err = p.start(dir)
	}
	if err != nil {
		<-p.slots
		return nil, err
	}
	return r, nil
}

// take returns a free reader, nil if there is none.
func (p *pool) take(dir string) (*reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "the mirrors are closed")
	}
	for i, f := range slices.Backward(p.free) {
		if f.dir == dir {
			p.free = slices.Delete(p.free, i, i+1)
			f.timer.Stop()
			return f.reader, nil
		}
	}
	return nil, nil
}

// release takes a reader back.
func (p *pool) release(r *reader) {
	defer func() { <-p.slots }()
	if r.broken {
		_ = r.end() // its failure was reported by its answer
		return
	}
	if over := p.keep(r); over != nil {
		_ = over.end() // it was killed
	}
}

// keep keeps a reader for later. It returns one that must end.
func (p *pool) keep(r *reader) (over *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return r
	}
	f := &freeReader{reader: r}
	f.timer = time.AfterFunc(p.idle, func() { p.drop(f) })
	p.free = append(p.free, f)
	if len(p.free) <= p.size {
		return nil
	}
	oldest := p.free[0]
	p.free = slices.Delete(p.free, 0, 1)
	oldest.timer.Stop()
	return oldest.reader
}

// drop ends a reader if it is still free.
func (p *pool) drop(f *freeReader) {
	p.mu.Lock()
	i := slices.Index(p.free, f)
	if i >= 0 {
		p.free = slices.Delete(p.free, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		_ = f.end() // it was killed
	}
}

// close ends all free readers and waits for the others, which end when they are released.
func (p *pool) close() {
	p.mu.Lock()
	free := p.free
	p.free, p.closed = nil, true
	p.mu.Unlock()
	for _, f := range free {
		f.timer.Stop()
		_ = f.end() // it was killed
	}
	for range p.size {
		p.slots <- struct{}{}
	}
	for range p.size {
		<-p.slots
	}
}
