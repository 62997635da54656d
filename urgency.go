package relabel

import "sync/atomic"

// Urgency says how soon the answer to a label's call is wanted. Raised, the label goes
// before others that wait for the same endpoint; calls whose action is executed go
// before both. It may be raised at any time, also while the call waits, from any
// goroutine. A nil Urgency is never raised.
type Urgency struct{ raised atomic.Bool }

// Raise says that somebody waits for the answer now, such as a trajectory whose rollout
// has ended. It may be called more than once.
func (u *Urgency) Raise() {
	if u != nil {
		u.raised.Store(true)
	}
}

// Raised reports whether Raise was called.
func (u *Urgency) Raised() bool { return u != nil && u.raised.Load() }
