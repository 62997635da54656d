package policy

import (
	"time"

	"relabel"
)

// Observe has functions that are called with events of endpoints; any may be nil. They
// are called while the endpoint's calls wait: they must return at once, and must not
// call back. endpoint is a base URL.
type Observe struct {
	// InFlight reports how many calls are in flight, and how many may be.
	InFlight func(endpoint string, calls, limit int)
	// Waiting reports how many calls wait for a slot: those whose action is executed,
	// labels that were raised, and other labels.
	Waiting func(endpoint string, act, raised, label int)
	// Tried reports each HTTP request when it has ended.
	Tried func(endpoint string, t Try)
	// Breaker reports that an endpoint is down, with the last error, and with nil that it is
	// back.
	Breaker func(endpoint string, down error)
}

// Try is one HTTP request to an endpoint, as metrics see it.
type Try struct {
	Policy  string // its name
	Purpose relabel.Purpose
	Outcome string // answered, or why not: useless, broken, busy, unavailable, timeout, down, abandoned
	After   string // the outcome of the call's try before it; "" for its first
	Queued  time.Duration
	Took    time.Duration
	Usage   *relabel.Usage // nil if the server does not say
}
