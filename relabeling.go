package relabel

import (
	"context"
	"time"
)

// RelabelState is where a relabeling stands.
type RelabelState string

// The states of a relabeling. One that is done, failed or cancelled is queued again when
// it is asked for again and still lacks an answer.
const (
	RelabelQueued    RelabelState = "queued"
	RelabelRunning   RelabelState = "running"
	RelabelDone      RelabelState = "done"   // every state was asked about
	RelabelFailed    RelabelState = "failed" // the policy cannot be asked at all
	RelabelCancelled RelabelState = "cancelled"
)

// Relabeling asks another teacher for its action at every stored state of a trajectory
// that is done, beside what was answered there before. There is one for each trajectory
// and policy version.
type Relabeling struct {
	ID           ID           `json:"id" doc:"Its id."`
	RunID        ID           `json:"run_id" doc:"The run."`
	IterationID  ID           `json:"iteration_id" doc:"The iteration."`
	TrajectoryID ID           `json:"trajectory_id" doc:"The trajectory at whose states the policy is asked."`
	InstanceID   string       `json:"instance_id" doc:"The task's name."`
	PolicyID     ID           `json:"policy_id" doc:"The policy that is asked."`
	State        RelabelState `json:"state" doc:"queued, running, done, failed (the policy cannot be asked at all) or cancelled."`
	Failure      string       `json:"failure,omitempty" doc:"Why it failed."`
	Priority     int          `json:"priority" doc:"The highest is worked off first."`
	Turns        int          `json:"turns" doc:"States; received, missing and pending add up to it."`
	Received     int          `json:"received" doc:"Answers received."`
	Missing      int          `json:"missing" doc:"Answers that the policy did not give."`
	Pending      int          `json:"pending" doc:"Answers to be requested."`
	Compared     int          `json:"compared" doc:"States where both this answer and the first label are there."`
	Agreed       int          `json:"agreed" doc:"Of these, where they do the same."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was asked for first."`
	StartedAt    *time.Time   `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it was over."`
}

// RelabelFilter narrows a list of relabelings. Zero fields do not narrow.
type RelabelFilter struct {
	RunID        *ID
	IterationID  *ID
	TrajectoryID *ID
	PolicyID     *ID
	State        RelabelState
}

// RelabelProgress sums an iteration's relabelings by one policy up.
type RelabelProgress struct {
	PolicyID    ID                   `json:"policy_id" doc:"The policy that is asked."`
	Relabelings map[RelabelState]int `json:"relabelings" doc:"Relabelings by state; states without any are left out."`
	Turns       int                  `json:"turns" doc:"States; received, missing and pending add up to it."`
	Received    int                  `json:"received" doc:"Answers received."`
	Missing     int                  `json:"missing" doc:"Answers that the policy did not give."`
	Pending     int                  `json:"pending" doc:"Answers to be requested."`
	Compared    int                  `json:"compared" doc:"States where both this answer and the first label are there."`
	Agreed      int                  `json:"agreed" doc:"Of these, where they do the same."`
}

// Add adds q's counts to p's.
func (p *RelabelProgress) Add(q RelabelProgress) {
	for state, n := range q.Relabelings {
		p.Relabelings[state] += n
	}
	p.Turns += q.Turns
	p.Received += q.Received
	p.Missing += q.Missing
	p.Pending += q.Pending
	p.Compared += q.Compared
	p.Agreed += q.Agreed
}

// RelabelFence is what every write of a relabeling carries; see Fence.
type RelabelFence struct {
	RelabelingID ID
	Claim        int // counts how often it was claimed
	Owner        string
}

// RelabelClaim is a relabeling that a worker owns, with all that it needs.
type RelabelClaim struct {
	RelabelFence
	Policy     Policy
	Run        Run
	Task       Task
	Trajectory Trajectory
	Turns      []Turn
	Pending    []int // the turns whose states are still to be asked about, in order
}

// RelabelingStore labels what has been rolled out.
type RelabelingStore interface {
	// LabelIteration begins the labelling of what has been rolled out of an iteration whose
	// labels are deferred. CodeConflict where they are not, or where it is over.
	LabelIteration(ctx context.Context, id ID) (Iteration, error)
	ListBatches(ctx context.Context, iteration ID) ([]LabelBatch, error)
	// RelabelTrajectory has a policy asked at every state of a trajectory that is done;
	// RelabelIteration, at those of all its trajectories that are. CodeConflict where none is.
	RelabelTrajectory(ctx context.Context, trajectory, policy ID, priority int) (Relabeling, error)
	RelabelIteration(ctx context.Context, iteration, policy ID, priority int) (RelabelProgress, error)
	RelabelProgress(ctx context.Context, iteration ID) ([]RelabelProgress, error)
	FindRelabeling(ctx context.Context, id ID) (Relabeling, error)
	ListRelabelings(ctx context.Context, f RelabelFilter, p Page) (list []Relabeling, next string, err error)
	// CancelRelabeling cancels one that is not over; CancelRelabelings, an iteration's, of
	// one policy or (nil) of all.
	CancelRelabeling(ctx context.Context, id ID) (Relabeling, error)
	CancelRelabelings(ctx context.Context, iteration ID, policy *ID) (cancelled int, err error)
}
