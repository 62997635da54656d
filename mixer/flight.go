package mixer

import (
	"sync"
	"time"

	"relabel"
)

// inFlight knows whether requests of a rollout's calls are in flight: their connections
// stand, and answers may come however long their endpoint says nothing else.
type inFlight struct {
	mu    sync.Mutex
	n     int
	since time.Time // since when n > 0
	ended time.Time // when n was above 0 last; zero where it never was
}

// oldest returns since when requests have been in flight without a break; ok is false where
// none is.
func (f *inFlight) oldest() (since time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.since, f.n > 0
}

// justEnded reports whether the last request ended so recently that its answer may not have been
// used yet.
func (f *inFlight) justEnded() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n == 0 && !f.ended.IsZero() && time.Since(f.ended) < waitGrace
}

func (f *inFlight) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 {
		f.since = time.Now()
	}
	if f.n += n; f.n == 0 {
		f.ended = time.Now()
	}
}

// clock returns the Clock of one call, whose requests it counts. next is called too; nil:
// nobody is.
func (f *inFlight) clock(next relabel.Clock) relabel.Clock { return &callClock{flights: f, next: next} }

// callClock is the Clock of one call.
type callClock struct {
	flights *inFlight
	next    relabel.Clock

	mu sync.Mutex
	n  int // requests of the call in flight: more than one while it is hedged
}

// Restart is relabel.Clock's: a request is sent.
func (c *callClock) Restart() {
	c.count(1)
	if c.next != nil {
		c.next.Restart()
	}
}

// Stop is relabel.Clock's: a request is over, or none was sent yet.
func (c *callClock) Stop() {
	c.count(-1)
	if c.next != nil {
		c.next.Stop()
	}
}

func (c *callClock) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n+n >= 0 {
		c.n += n
		c.flights.add(n)
	}
}
