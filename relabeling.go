package relabel

import "time"

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
	ID           ID           `json:"id"`
	RunID        ID           `json:"run_id"`
	IterationID  ID           `json:"iteration_id"`
	TrajectoryID ID           `json:"trajectory_id"`
	InstanceID   string       `json:"instance_id"`
	PolicyID     ID           `json:"policy_id"`
	State        RelabelState `json:"state"`
	Failure      string       `json:"failure,omitempty"`
	Priority     int          `json:"priority"` // the highest is claimed first
	Turns        int          `json:"turns"`    // states; had, missing and owed add up to it
	Had          int          `json:"had"`
	Missing      int          `json:"missing"`
	Owed         int          `json:"owed"`
	Compared     int          `json:"compared"` // states where both this and the first label are had
	Agreed       int          `json:"agreed"`   // of these, where they do the same (Agree)
	CreatedAt    time.Time    `json:"created_at"`
	StartedAt    *time.Time   `json:"started_at,omitempty"`
	EndedAt      *time.Time   `json:"ended_at,omitempty"`
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
	PolicyID    ID                   `json:"policy_id"`
	Relabelings map[RelabelState]int `json:"relabelings"` // by state; states without any are left out
	Turns       int                  `json:"turns"`
	Had         int                  `json:"had"`
	Missing     int                  `json:"missing"`
	Owed        int                  `json:"owed"`
	Compared    int                  `json:"compared"`
	Agreed      int                  `json:"agreed"`
}

// Add adds q's counts to p's.
func (p *RelabelProgress) Add(q RelabelProgress) {
	for state, n := range q.Relabelings {
		p.Relabelings[state] += n
	}
	p.Turns += q.Turns
	p.Had += q.Had
	p.Missing += q.Missing
	p.Owed += q.Owed
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
	Owed       []int // the turns whose states are still to be asked about, in order
}
