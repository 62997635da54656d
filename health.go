package relabel

import "time"

// PolicyHealth is how a policy fares: what its last calls came to, and how its addresses
// stand for the workers right now.
type PolicyHealth struct {
	PolicyID  ID
	Recent    RecentCalls
	Addresses []AddressHealth // those of the policy, in its order; then others that its last calls asked
}

// RecentCalls sums the last calls to a policy up, at most MaxRecentCalls. Times are those
// of the calls that were answered, in milliseconds.
type RecentCalls struct {
	Calls   int
	Since   *time.Time // when the first of them began; nil without any
	Failed  int        // that came to nothing
	Retried int        // that took more than one try
	Tries   int        // of all of them
	// Median and P95 are from the first try to the last answer, waits for a place apart.
	Median, P95           int64
	QueueMedian, QueueP95 int64 // waits for a place at the endpoint
}

// MaxRecentCalls is how many calls RecentCalls looks at.
const MaxRecentCalls = 1000

// AddressHealth is how one address of a policy stands for all workers together.
type AddressHealth struct {
	EndpointActivity             // their sums; Down says why it is taken to be down where any takes it so
	Workers          int         // that have asked it, and are heard of
	DownFor          int         // of these, take it to be down
	Recent           RecentCalls // of the policy's last calls, those that asked here last
}

// Add adds what one more worker says of the address.
func (a *AddressHealth) Add(e EndpointActivity) {
	a.Workers++
	a.InFlight += e.InFlight
	a.Limit += e.Limit
	a.WaitingActs += e.WaitingActs
	a.WaitingRaised += e.WaitingRaised
	a.WaitingLabels += e.WaitingLabels
	if e.Down != "" {
		a.DownFor++
		a.Down = e.Down
	}
}
