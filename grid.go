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
	Passed    int
	Failed    int // not resolved, by whatever end but the next
	TimeLimit int // not resolved, and the rollout's wall clock was up
	Error     int // the infrastructure's doing: failed, or the verifier broke
	Running   int // claimed and not over
	Queued    int
	Cancelled int
	Only      *ID // the trajectory, where there is but one
}

// Generations is how many trajectories the cell counts.
func (c GridCell) Generations() int {
	return c.Passed + c.Failed + c.TimeLimit + c.Error + c.Running + c.Queued + c.Cancelled
}
