package relabel

// Page asks for a part of a list, newest first. Lists page by key, not by number.
type Page struct {
	After string // the Next of the page before; "" for the first
	Limit int    // items; 0 means 50, at most 500
}

// TrajectoryFilter narrows a list of trajectories. Zero fields do not narrow.
type TrajectoryFilter struct {
	RunID       *ID
	IterationID *ID
	TaskID      *ID
	InstanceID  string
	State       TrajectoryState
	EndReason   EndReason
	Failure     FailureReason
	Verdict     VerdictKind
	Submitted   *bool
	Flag        string // of a review of it; AnyFlag: of any
}

// Idempotent is what is kept of a POST with an Idempotency-Key.
type Idempotent struct {
	Key      string
	Route    string // method and path
	BodyHash string // hex SHA-256 of the body
	Status   int    // of the answer; 0 while the first request is still at work
	Answer   []byte
}

// NewIteration asks for an iteration of a run.
type NewIteration struct {
	Kind        IterationKind
	StudentID   ID
	Beta        *float64 // instead of the schedule's βi
	Tasks       int      // how many tasks to draw with the run's seed; 0 means all
	Instances   []string // exactly these; they may be held out only when evaluating
	HeldOut     bool     // evaluate on the held-out tasks
	Generations int      // rollouts a task; 0 means 1
}

// PlannedIteration is an iteration with its trajectories, drawn and ready to be stored.
type PlannedIteration struct {
	Iteration    Iteration
	Trajectories []Trajectory
}
