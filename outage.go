package relabel

import "time"

// EndpointStatus is how one worker finds an endpoint.
type EndpointStatus struct {
	URL  string // base URL without a slash at its end
	Down string // why it counts as down; "" where it answered a moment ago
}

// Outage is a policy none of whose addresses is to be had, and that queued trajectories
// wait for: they are not claimed meanwhile.
type Outage struct {
	IterationID ID        `json:"iteration_id"`
	Role        Role      `json:"role"`
	Policy      string    `json:"policy"`       // its name and version
	URL         string    `json:"url"`          // its first address
	Reason      string    `json:"reason"`       // why that counts as down
	Since       time.Time `json:"since"`        // since when all of its addresses are down
	Waiting     int       `json:"trajectories"` // queued ones that wait for it
}

// Wait is where a trajectory waited for an endpoint that was down, over all attempts.
type Wait struct {
	Step string // "" where it did not
	For  time.Duration
}
