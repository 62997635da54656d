package relabel

// Overview is the state of all work.
type Overview struct {
	Total Progress       `json:"total" doc:"All trajectories."`
	Jobs  map[string]int `json:"jobs" doc:"Waiting jobs by queue."`
	Runs  []RunOverview  `json:"runs" doc:"Runs with a running iteration, the newest first."`
	// Outages are policies that are down and that queued trajectories wait for.
	Outages []Outage `json:"outages" doc:"Policies that are down. Queued trajectories that need them are not claimed meanwhile."`
	// Ideal, Actual and Efficiency cover all done trajectories, as in TimeReport.
	Ideal      int64    `json:"ideal_ms" doc:"Critical paths of all done trajectories, in milliseconds."`
	Actual     int64    `json:"actual_ms" doc:"Milliseconds that those trajectories spent on their critical paths."`
	Efficiency *float64 `json:"efficiency" doc:"ideal_ms ÷ actual_ms; null if nothing is done."`
}

// RunOverview is the state of a run's running iterations.
type RunOverview struct {
	RunID      ID       `json:"run_id" doc:"The run."`
	Name       string   `json:"name" doc:"Its name."`
	Paused     bool     `json:"paused" doc:"Whether it is paused, or each of its running iterations is."`
	Progress   Progress `json:"progress" doc:"Progress of its running iterations."`
	Efficiency *float64 `json:"efficiency" doc:"Critical-path efficiency of their done trajectories; null without any."`
}

// WorkerActivity is a worker's activity a few seconds ago.
type WorkerActivity struct {
	Rollouts  []RolloutActivity  `json:"rollouts" doc:"Activity of each of its trajectories."`
	Endpoints []EndpointActivity `json:"endpoints" doc:"State of the endpoints that it calls."`
}

// RolloutActivity is the activity of one trajectory.
type RolloutActivity struct {
	TrajectoryID ID     `json:"trajectory_id" doc:"The trajectory."`
	RunID        ID     `json:"run_id" doc:"Its run."`
	InstanceID   string `json:"instance_id" doc:"Its task's name."`
	Attempt      int    `json:"attempt" doc:"Its attempt."`
	Turn         int    `json:"turn" doc:"The current turn; 0 before the first."`
	Phase        Phase  `json:"phase" doc:"start, slot, replay, student, teacher, sandbox, database, end, labels, verify or engine."`
	PhaseMillis  int64  `json:"phase_ms" doc:"Milliseconds in this phase so far."`
	LabelsAsked  int    `json:"labels_asked" doc:"Labels requested in the background."`
	// WaitsFor is the endpoint that is down and that the rollout waits for, with the reason; "" if
	// it waits for none. A waiting rollout holds no slot.
	WaitsFor string `json:"waits_for,omitempty" doc:"The endpoint that is down and that it waits for, with the reason. It holds no slot meanwhile."`
}

// EndpointActivity is the state of an endpoint for one worker.
type EndpointActivity struct {
	URL      string `json:"url" doc:"Its base URL."`
	InFlight int    `json:"in_flight" doc:"Calls in flight."`
	Limit    int    `json:"limit" doc:"Current limit of calls in flight."`
	// Calls that wait for a place at the endpoint: actions to execute, labels that a trajectory
	// waits for, and other labels.
	WaitingActs   int    `json:"waiting_acts" doc:"Waiting calls whose action will be executed."`
	WaitingRaised int    `json:"waiting_raised" doc:"Waiting labels that a trajectory waits for."`
	WaitingLabels int    `json:"waiting_labels" doc:"Other waiting labels."`
	Down          string `json:"down,omitempty" doc:"Why it counts as down; absent while it is up."`
}
