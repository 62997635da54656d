package relabel

// Overview is how everything stands.
type Overview struct {
	Total Progress       `json:"total" doc:"All trajectories."`
	Jobs  map[string]int `json:"jobs" doc:"Jobs that wait, by queue."`
	Runs  []RunOverview  `json:"runs" doc:"Runs with a running iteration, the newest first."`
	// Outages are policies that are down and what waits for them in the queue.
	Outages []Outage `json:"outages" doc:"Policies that are down and that queued trajectories wait for: they are not claimed meanwhile."`
	// Ideal, Actual and Efficiency are of all trajectories that are done, as in TimeReport.
	Ideal      int64    `json:"ideal_ms" doc:"Critical paths of all trajectories that are done, in milliseconds."`
	Actual     int64    `json:"actual_ms" doc:"Milliseconds that those were on their critical paths."`
	Efficiency *float64 `json:"efficiency" doc:"ideal_ms ÷ actual_ms; null where nothing is done."`
}

// RunOverview is how a run's running iterations stand.
type RunOverview struct {
	RunID      ID       `json:"run_id" doc:"The run."`
	Name       string   `json:"name" doc:"Its name."`
	Paused     bool     `json:"paused" doc:"Whether it is paused, or each of its running iterations is."`
	Progress   Progress `json:"progress" doc:"How far its running iterations are."`
	Efficiency *float64 `json:"efficiency" doc:"Critical-path efficiency of their trajectories that are done; null without any."`
}

// WorkerActivity is what a worker does right now; it is a few seconds old.
type WorkerActivity struct {
	Rollouts  []RolloutActivity  `json:"rollouts" doc:"What each of its trajectories does."`
	Endpoints []EndpointActivity `json:"endpoints" doc:"How the endpoints that it asks stand for it."`
}

// RolloutActivity is what one trajectory does right now.
type RolloutActivity struct {
	TrajectoryID ID     `json:"trajectory_id" doc:"The trajectory."`
	RunID        ID     `json:"run_id" doc:"Its run."`
	InstanceID   string `json:"instance_id" doc:"Its task's name."`
	Attempt      int    `json:"attempt" doc:"Its attempt."`
	Turn         int    `json:"turn" doc:"The turn in hand; 0 before the first."`
	Phase        Phase  `json:"phase" doc:"start, slot, replay, student, teacher, sandbox, database, end, labels, verify or engine."`
	PhaseMillis  int64  `json:"phase_ms" doc:"Milliseconds that it has been in this phase."`
	LabelsAsked  int    `json:"labels_asked" doc:"Labels that are being asked for beside it."`
	// WaitsFor is the endpoint that is down and that it waits for, and why that is; "" where it
	// waits for none. A rollout holds no slot meanwhile.
	WaitsFor string `json:"waits_for,omitempty" doc:"The endpoint that is down and that it waits for, and why it counts as down. It holds no slot meanwhile."`
}

// EndpointActivity is how an endpoint stands for one worker right now.
type EndpointActivity struct {
	URL      string `json:"url" doc:"Its base URL."`
	InFlight int    `json:"in_flight" doc:"Calls in flight."`
	Limit    int    `json:"limit" doc:"Calls that may be in flight by now."`
	// Calls that wait for a place: those whose action is executed, labels that a trajectory
	// waits for, and other labels.
	WaitingActs   int    `json:"waiting_acts" doc:"Calls that wait for a place and whose action will be executed."`
	WaitingRaised int    `json:"waiting_raised" doc:"Labels that wait for a place and that a trajectory waits for."`
	WaitingLabels int    `json:"waiting_labels" doc:"Other labels that wait for a place."`
	Down          string `json:"down,omitempty" doc:"Why it is taken to be down; absent while it is up."`
}
