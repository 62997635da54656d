package policy

import (
	"time"

	"relabel"
)

// Observe has functions for events of endpoints; any may be nil. The endpoint is locked during the call:
// they must return at once and must not call back. endpoint is a base URL.
type Observe struct {
	// InFlight reports the number of calls in flight, and its limit.
	InFlight func(endpoint string, calls, limit int)
	// Waiting reports how many calls wait for a slot: those whose action is executed, raised
	// labels, and other labels.
	Waiting func(endpoint string, act, raised, label int)
	// Tried reports the end of each HTTP request.
	Tried func(endpoint string, t Try)
	// Breaker reports that an endpoint is down, with the last error, or with nil that it is back.
	Breaker func(endpoint string, down error)
}

// Try is one HTTP request to an endpoint, for metrics.
type Try struct {
	Policy  string // its name
	Purpose relabel.Purpose
	Outcome string // answered, or why not: useless, broken, busy, unavailable, timeout, down, abandoned
	After   string // the outcome of the call's previous try; "" for the first
	Queued  time.Duration
	Took    time.Duration
	Usage   *relabel.Usage // nil if unknown
}
