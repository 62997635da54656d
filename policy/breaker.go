package policy

import "time"

const (
	breakerFailures = 3 // in a row, before the endpoint counts as down
	firstInterval   = time.Second
	lastInterval    = 30 * time.Second
)

// breaker knows whether an endpoint is down. While it is open, calls wait, and one an
// interval is let through as a probe; any answer closes it.
type breaker struct {
	failures int // since the last sign of life
	open     bool
	since    time.Time // when it opened
	next     time.Time // when the next probe may go
	interval time.Duration
	last     error // the last failure
}

// wait is how long until a call may go: 0 while closed, and when a probe is due.
func (b *breaker) wait(now time.Time) time.Duration {
	if !b.open {
		return 0
	}
	return max(0, b.next.Sub(now))
}

// probed notes that a probe was let through at now. The next one waits twice as long, also
// while this one has no answer: a server that hangs must not get one call after the other.
func (b *breaker) probed(now time.Time) {
	b.next = now.Add(b.interval)
	b.interval = min(2*b.interval, lastInterval)
}

// fail notes a failure, and reports whether it opened the breaker. Those of calls that
// were in flight when it opened change nothing.
func (b *breaker) fail(now time.Time, probe bool, err error) (opened bool) {
	b.failures++
	b.last = err
	switch {
	case b.open && probe:
		b.next = now.Add(b.interval)
	case !b.open && b.failures >= breakerFailures:
		b.open, b.since, b.interval = true, now, firstInterval
		b.next = now.Add(b.interval)
		return true
	}
	return false
}

// live notes a sign of life, and reports whether it closed the breaker.
func (b *breaker) live() (closed bool) {
	closed = b.open
	b.failures, b.open, b.last = 0, false, nil
	return closed
}
