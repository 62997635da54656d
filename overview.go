package relabel

// Overview is how everything stands.
type Overview struct {
	Total Progress       `json:"total"` // of all iterations
	Jobs  map[string]int `json:"jobs"`  // that wait, by queue
	Runs  []RunOverview  `json:"runs"`  // those with an iteration that runs, the newest first
	// Outages are policies that are down and what waits for them in the queue.
	Outages []Outage `json:"outages"`
	// Ideal, Actual and Efficiency are of all trajectories that are done, as in TimeReport.
	Ideal      int64    `json:"ideal_ms"`
	Actual     int64    `json:"actual_ms"`
	Efficiency *float64 `json:"efficiency"`
}

// RunOverview is how a run's running iterations stand.
type RunOverview struct {
	RunID      ID       `json:"run_id"`
	Name       string   `json:"name"`
	Paused     bool     `json:"paused"` // the run is, or each of these iterations
	Progress   Progress `json:"progress"`
	Efficiency *float64 `json:"efficiency"` // of their trajectories that are done; nil without any
}
