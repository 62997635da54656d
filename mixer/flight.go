package mixer

import (
	"sync"
	"time"

	"relabel"
)

// inFlight counts the requests of a rollout's calls that are in flight. They may be answered even
// if their endpoint is otherwise silent.
type inFlight struct {
	mu    sync.Mutex
	n     int
	since time.Time // start of the period with n > 0
	ended time.Time // end of the last such period; zero before
}

// oldest returns the start of the period in which requests have been in flight; ok is false if none
// is.
func (f *inFlight) oldest() (since time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.since, f.n > 0
}

// justEnded reports whether the last request ended so recently that its answer may not be used yet.
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

// callClock is the Clock of one call. It counts the call's requests and calls next, if set.
type callClock struct {
	flights *inFlight
	next    relabel.Clock

	mu sync.Mutex
	n  int // requests of the call in flight: more than one while it is hedged
}

// Restart implements relabel.Clock: a request is sent.
func (c *callClock) Restart() {
	c.count(1)
	if c.next != nil {
		c.next.Restart()
	}
}

// Stop implements relabel.Clock: a request ended, or none was sent yet.
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
