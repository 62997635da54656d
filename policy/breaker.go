package policy

import "time"

const (
	breakerFailures = 3 // consecutive, until the endpoint counts as down
	firstInterval   = time.Second
	lastInterval    = 30 * time.Second
)

// breaker is open while an endpoint is down. Then calls wait, and one per interval is let through as a
// probe. Any answer closes it.
type breaker struct {
	failures int // since the last sign of life
	open     bool
	since    time.Time // when it opened
	next     time.Time // time of the next probe
	interval time.Duration
	last     error // the last failure
}

// wait is how long until a call may start: 0 while it is closed or a probe is due.
func (b *breaker) wait(now time.Time) time.Duration {
	if !b.open {
		return 0
	}
	return max(0, b.next.Sub(now))
}

// probed records a probe. The next one waits twice as long, also without an answer to this one: a server
// that hangs must not get many calls.
func (b *breaker) probed(now time.Time) {
	b.next = now.Add(b.interval)
	b.interval = min(2*b.interval, lastInterval)
}

// fail records a failure, and reports whether it opened the breaker. While it is open, only probes
// matter.
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

// live records a sign of life, and reports whether it closed the breaker.
func (b *breaker) live() (closed bool) {
	closed = b.open
	b.failures, b.open, b.last = 0, false, nil
	return closed
}
