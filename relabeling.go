package relabel

import (
	"context"
	"time"
)

// RelabelState is the state of a relabeling.
type RelabelState string

// The states of a relabeling. A new request queues an ended one again if it lacks answers.
const (
	RelabelQueued    RelabelState = "queued"
	RelabelRunning   RelabelState = "running"
	RelabelDone      RelabelState = "done"   // the policy was called at every state
	RelabelFailed    RelabelState = "failed" // the policy cannot be called at all
	RelabelCancelled RelabelState = "cancelled"
)

// Relabeling requests another teacher's action at every stored state of a done trajectory, in
// addition to earlier labels. There is one per trajectory and policy version.
type Relabeling struct {
	ID           ID           `json:"id" doc:"Its id."`
	RunID        ID           `json:"run_id" doc:"The run."`
	IterationID  ID           `json:"iteration_id" doc:"The iteration."`
	TrajectoryID ID           `json:"trajectory_id" doc:"The trajectory whose states are labelled."`
	InstanceID   string       `json:"instance_id" doc:"The task's name."`
	PolicyID     ID           `json:"policy_id" doc:"The labelling policy."`
	State        RelabelState `json:"state" doc:"queued, running, done, failed (the policy cannot be called at all) or cancelled."`
	Failure      string       `json:"failure,omitempty" doc:"Why it failed."`
	Priority     int          `json:"priority" doc:"Relabelings with the highest priority run first."`
	Turns        int          `json:"turns" doc:"States; received, missing and pending add up to it."`
	Received     int          `json:"received" doc:"Answers received."`
	Missing      int          `json:"missing" doc:"Missing answers."`
	Pending      int          `json:"pending" doc:"Answers to be requested."`
	Compared     int          `json:"compared" doc:"States for which both this answer and the first label were received."`
	Agreed       int          `json:"agreed" doc:"States among these at which both agree."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was first requested."`
	StartedAt    *time.Time   `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it ended."`
}

// RelabelFilter narrows a list of relabelings. Zero fields do not narrow.
type RelabelFilter struct {
	RunID        *ID
	IterationID  *ID
	TrajectoryID *ID
	PolicyID     *ID
	State        RelabelState
}

// RelabelProgress sums an iteration's relabelings by one policy.
type RelabelProgress struct {
	PolicyID    ID                   `json:"policy_id" doc:"The labelling policy."`
	Relabelings map[RelabelState]int `json:"relabelings" doc:"Relabelings by state; states without any are absent."`
	Turns       int                  `json:"turns" doc:"States; received, missing and pending add up to it."`
	Received    int                  `json:"received" doc:"Answers received."`
	Missing     int                  `json:"missing" doc:"Missing answers."`
	Pending     int                  `json:"pending" doc:"Answers to be requested."`
	Compared    int                  `json:"compared" doc:"States for which both this answer and the first label were received."`
	Agreed      int                  `json:"agreed" doc:"States among these at which both agree."`
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

// RelabelFence guards every write to a relabeling; see Fence.
type RelabelFence struct {
	RelabelingID ID
	Claim        int // number of the claim
	Owner        string
}

// RelabelClaim is a relabeling that a worker owns, with everything needed to do it.
type RelabelClaim struct {
	RelabelFence
	Policy     Policy
	Run        Run
	Task       Task
	Trajectory Trajectory
	Turns      []Turn
	Pending    []int // the turns whose states are still to be asked about, in order
}

// RelabelingStore stores deferred labelling and relabelings.
type RelabelingStore interface {
	// LabelIteration starts the labelling of the ended rollouts of an iteration with deferred
	// labels. CodeConflict if they are not deferred, or if the iteration has ended.
	LabelIteration(ctx context.Context, id ID) (Iteration, error)
	ListBatches(ctx context.Context, iteration ID) ([]LabelBatch, error)
	// RelabelTrajectory queues the relabeling of a done trajectory; RelabelIteration, those of all
	// done trajectories of an iteration. CodeConflict if none is done.
	RelabelTrajectory(ctx context.Context, trajectory, policy ID, priority int) (Relabeling, error)
	RelabelIteration(ctx context.Context, iteration, policy ID, priority int) (RelabelProgress, error)
	RelabelProgress(ctx context.Context, iteration ID) ([]RelabelProgress, error)
	FindRelabeling(ctx context.Context, id ID) (Relabeling, error)
	ListRelabelings(ctx context.Context, f RelabelFilter, p Page) (list []Relabeling, next string, err error)
	// CancelRelabeling cancels one that has not ended; CancelRelabelings, those of an iteration by
	// one policy or (nil) by all.
	CancelRelabeling(ctx context.Context, id ID) (Relabeling, error)
	CancelRelabelings(ctx context.Context, iteration ID, policy *ID) (cancelled int, err error)
}
