package policy

import (
	"time"

	"relabel"
)

// Observe are functions that are told what goes on at endpoints; any may be nil. They
// are called while the endpoint's calls wait: they must return at once, and must not
// call back. endpoint is a base URL.
type Observe struct {
	// InFlight tells how many calls are in flight, and how many may be by now.
	InFlight func(endpoint string, calls, limit int)
	// Waiting tells how many calls wait for a place: those whose action is executed,
	// labels that were raised, and other labels.
	Waiting func(endpoint string, act, raised, label int)
	// Tried tells of each HTTP request when it has ended.
	Tried func(endpoint string, t Try)
	// Breaker tells when an endpoint is found to be down, with what was seen last, and
	// with nil when it is back.
	Breaker func(endpoint string, down error)
}

// Try is one HTTP request to an endpoint, as metrics see it.
type Try struct {
	Policy  string // its name
	Purpose relabel.Purpose
	Outcome string // answered, or why not: useless, broken, busy, unavailable, timeout, down, abandoned
	After   string // what became of the call's try before it; "" for its first
	Queued  time.Duration
	Took    time.Duration
	Usage   *relabel.Usage // nil where the server does not say
}
