package relabel

import "time"

// RegradeState is the state of a regrading.
type RegradeState string

// The states of a regrading. The last three are terminal.
const (
	RegradeQueued    RegradeState = "queued"
	RegradeRunning   RegradeState = "running"
	RegradeDone      RegradeState = "done"
	RegradeFailed    RegradeState = "failed" // MaxRegradeTries infrastructure errors; the earlier verdict stays
	RegradeCancelled RegradeState = "cancelled"
)

// MaxRegradeTries is how many infrastructure errors and lost workers a regrading may meet.
const MaxRegradeTries = 3

// Regrading grades the stored submission of a trajectory that is done again, under the
// verifier's present protections. The trajectory stays done and keeps its earlier verdicts.
type Regrading struct {
	ID           ID           `json:"id"`
	TrajectoryID ID           `json:"trajectory_id"`
	InstanceID   string       `json:"instance_id"`
	State        RegradeState `json:"state"`
	Tries        int          `json:"tries"`             // that ended with an infrastructure error or with the worker
	Failure      string       `json:"failure,omitempty"` // the last infrastructure error
	Changed      *bool        `json:"changed,omitempty"` // whether passed differs from the verdict before; nil until done
	CreatedAt    time.Time    `json:"created_at"`
	StartedAt    *time.Time   `json:"started_at,omitempty"`
	EndedAt      *time.Time   `json:"ended_at,omitempty"`
}

// RegradeSelection selects trajectories of a run that are done.
type RegradeSelection struct {
	RunID        ID
	IterationID  *ID  // nil: of every iteration
	Iteration    int  // of every iteration with this number; 0: of any
	TrajectoryID *ID  // nil: every trajectory
	All          bool // those whose verdict is of the present protections too
}

// RegradeProgress sums up the verdicts and regradings of a selection.
type RegradeProgress struct {
	Protections int                `json:"protections"` // the present ProtectionsVersion
	Verdicts    []ProtectionsCount `json:"verdicts"`    // current verdicts by version, ascending
	// Outdated counts the trajectories that are done without a verdict of the present
	// protections; OutdatedMillis sums up how long their current verdicts took.
	Outdated       int   `json:"outdated"`
	OutdatedMillis int64 `json:"outdated_millis"`
	// Regradings counts the latest regrading of each trajectory by state.
	Regradings map[RegradeState]int `json:"regradings"`
	Errors     int                  `json:"errors"`  // infrastructure errors of these
	Changed    int                  `json:"changed"` // of those that are done: passed differs
	// Failures are those that failed, by instance; MostRegradeFailures at most.
	Failures []RegradeFailure `json:"failures"`
}

// MostRegradeFailures bounds how many failed regradings a progress names.
const MostRegradeFailures = 100

// RegradeFailure is a trajectory whose submission could not be graded again.
type RegradeFailure struct {
	TrajectoryID ID     `json:"trajectory_id"`
	InstanceID   string `json:"instance_id"`
	Failure      string `json:"failure"` // the last infrastructure error
}

// Open counts the regradings that are queued or running.
func (p RegradeProgress) Open() int {
	return p.Regradings[RegradeQueued] + p.Regradings[RegradeRunning]
}

// ProtectionsCount counts the verdicts of one version of the protections.
type ProtectionsCount struct {
	Protections int `json:"protections"`
	Verdicts    int `json:"verdicts"`
	Passed      int `json:"passed"`
}

// RegradeFence is what every write of a regrading carries; see Fence.
type RegradeFence struct {
	RegradingID ID
	Claim       int // counts the claims
	Owner       string
}

// RegradeClaim is a regrading that a worker owns, with all that it needs.
type RegradeClaim struct {
	RegradeFence
	Trajectory Trajectory
	Task       Task
	Limits     RunLimits
	Patch      []byte
}

// RegradeJob wakes a worker: a regrading is due. The worker asks which one.
type RegradeJob struct{}

// Kind names the job in the queue.
func (RegradeJob) Kind() string { return "regrade" }
