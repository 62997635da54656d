package relabel

// WorkerActivity is what a worker does right now; it is a few seconds old.
type WorkerActivity struct {
	Rollouts  []RolloutActivity  `json:"rollouts"`
	Endpoints []EndpointActivity `json:"endpoints"`
}

// RolloutActivity is what one trajectory does right now.
type RolloutActivity struct {
	TrajectoryID ID     `json:"trajectory_id"`
	RunID        ID     `json:"run_id"`
	InstanceID   string `json:"instance_id"`
	Attempt      int    `json:"attempt"`
	Turn         int    `json:"turn"` // in hand; 0 before the first
	Phase        Phase  `json:"phase"`
	PhaseMillis  int64  `json:"phase_ms"`     // for how long by now, in milliseconds
	LabelsAsked  int    `json:"labels_asked"` // labels that are being asked for beside it
	// WaitsFor is the endpoint that is down and that it waits for, and why that is; "" where it
	// waits for none. A rollout holds no slot meanwhile.
	WaitsFor string `json:"waits_for,omitempty"`
}

// EndpointActivity is how an endpoint stands for one worker right now.
type EndpointActivity struct {
	URL      string `json:"url"`
	InFlight int    `json:"in_flight"` // calls
	Limit    int    `json:"limit"`     // calls that may be in flight by now
	// Calls that wait for a place: those whose action is executed, labels that a trajectory
	// waits for, and other labels.
	WaitingActs   int    `json:"waiting_acts"`
	WaitingRaised int    `json:"waiting_raised"`
	WaitingLabels int    `json:"waiting_labels"`
	Down          string `json:"down,omitempty"` // why it is taken to be down; "" while it is up
}
