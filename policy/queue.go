package policy

import (
	"time"

	"relabel"
)

// longestEvery says how often the longest waiter goes, whatever its class.
const longestEvery = 8

// waiter is a try that waits for a slot at an endpoint.
type waiter struct {
	// What it wants.
	purpose  relabel.Purpose
	urgency  *relabel.Urgency
	arrived  uint64        // the call's place in the order of arrival; kept over its tries
	after    outcome       // of the call's try before; "" for its first
	bytes    int           // of the request
	patience time.Duration // how long it waits for an endpoint that is down
	trouble  time.Time     // since when its call waits for one; zero: not yet
	roams    bool          // it goes elsewhere rather than wait for an endpoint that is down or wants no calls

	lane    *lane
	queued  time.Time
	granted time.Time
	grant   uint64  // counts the endpoint's grants
	probe   bool    // it goes to an endpoint that is down
	held    bool    // it waited while the endpoint was down
	near    bool    // the places were about taken when it got one
	tokens  float64 // what it was taken to need
	verdict chan error
}

// class is the waiter's class: calls whose action is executed, then labels that
// somebody waits for, then other labels.
func (w *waiter) class() int {
	switch {
	case w.purpose != relabel.PurposeLabel:
		return 0
	case w.urgency.Raised():
		return 1
	}
	return 2
}

// order chooses the next waiter. Classes have priorities, and a class is first in, first
// out; but of every longestEvery grants one at least goes to the longest waiter, so
// that each waits for a bounded number of grants.
type order struct {
	passed int // grants since the longest waiter was chosen
}

// choose returns the next waiter of waiting, which is not empty, and whether the
// longest waiter is passed over.
func (o order) choose(waiting []*waiter) (w *waiter, over bool) {
	first, longest := waiting[0], waiting[0]
	class := first.class()
	for _, w := range waiting[1:] {
		c := w.class() // once: it may be raised meanwhile
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
