package policy

import (
	"time"

	"relabel"
)

// Every longestEvery-th grant at least is for the longest waiter, whatever its class.
const longestEvery = 8

// waiter is a try that waits for a slot at an endpoint.
type waiter struct {
	// The request.
	purpose  relabel.Purpose
	urgency  *relabel.Urgency
	arrived  uint64        // the call's position in the order of arrival, the same for all tries
	after    outcome       // of the call's previous try; "" for the first
	bytes    int           // of its body
	patience time.Duration // how long it waits for an endpoint that is down
	trouble  time.Time     // since when its call has waited for one; zero: not yet
	roams    bool          // it uses another replica rather than wait for an endpoint that is down or accepts no calls

	// Its state.
	lane    *lane
	queued  time.Time
	granted time.Time
	grant   uint64  // number of the endpoint's grant
	probe   bool    // the endpoint is down
	held    bool    // it waited while the endpoint was down
	near    bool    // nearly all slots were in use when it got one
	tokens  float64 // its reservation
	verdict chan error
}

// class is the waiter's class: calls whose action is executed, then raised labels, then other labels,
// scores and judgements.
func (w *waiter) class() int {
	switch {
	case w.purpose == relabel.PurposeScore, w.purpose == relabel.PurposeJudge:
		return 2
	case w.purpose != relabel.PurposeLabel:
		return 0
	case w.urgency.Raised():
		return 1
	}
	return 2
}

// order chooses the next waiter. Classes have priorities, and a class is first in, first out. Since
// longestEvery reserves grants for the longest waiter, each waits for a bounded number of grants.
type order struct {
	passed int // grants since the last one for the longest waiter
}

// choose returns the next waiter of waiting, which is not empty, and whether that skips the longest
// waiter.
func (o order) choose(waiting []*waiter) (w *waiter, over bool) {
	first, longest := waiting[0], waiting[0]
	class := first.class()
	for _, w := range waiting[1:] {
		c := w.class() // once: it may change meanwhile
		if c < class || c == class && w.arrived < first.arrived {
			first, class = w, c
		}
		if w.arrived < longest.arrived {
			longest = w
		}
	}
	if o.passed >= longestEvery-1 {
		return longest, false
	}
	return first, first != longest
}

// note counts a grant.
func (o *order) note(over bool) {
	if over {
		o.passed++
	} else {
		o.passed = 0
	}
}
