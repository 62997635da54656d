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
	IterationID ID        `json:"iteration_id" doc:"The iteration whose trajectories wait."`
	Role        Role      `json:"role" doc:"teacher or student."`
	Policy      string    `json:"policy" doc:"Name and version of the policy."`
	URL         string    `json:"url" doc:"Its first address."`
	Reason      string    `json:"reason" doc:"Why it counts as down."`
	Since       time.Time `json:"since" doc:"Since when it does."`
	Waiting     int       `json:"trajectories" doc:"Queued trajectories that wait for it."`
}

// Wait is where a trajectory waited for an endpoint that was down, over all attempts.
type Wait struct {
	Step string // "" where it did not
	For  time.Duration
}
