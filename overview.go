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
