package relabel

// Grid is what came of a run's tasks, iteration by iteration.
type Grid struct {
	Iterations []Iteration // in the order they were made
	Rows       []GridRow   // by instance id
	Tasks      int         // of the run, in all pages
}

// GridRow is one task, with a cell for each of the grid's iterations.
type GridRow struct {
	TaskID     ID
	InstanceID string
	HeldOut    bool
	Cells      []GridCell
}

// GridCell counts a task's trajectories in one iteration, each under one heading. All
// are 0 where the iteration did not draw the task.
type GridCell struct {
	Resolved int
	// PassedUnsubmitted counts those that pass and were not submitted, TimeLimit those that
	// do not pass and whose wall clock ran out, Failed the other unresolved ones.
	PassedUnsubmitted int
	Failed            int
	TimeLimit         int
	Error             int // the infrastructure's doing: failed, or the verifier broke
	Running           int // claimed and not over
	Queued            int
	Cancelled         int
	Only              *ID // the trajectory, where there is but one
}

// Generations is how many trajectories the cell counts.
func (c GridCell) Generations() int {
	return c.Resolved + c.PassedUnsubmitted + c.Failed + c.TimeLimit + c.Error + c.Running + c.Queued + c.Cancelled
}
