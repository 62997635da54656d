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
	ID           ID           `json:"id" doc:"Its id."`
	TrajectoryID ID           `json:"trajectory_id" doc:"The trajectory."`
	InstanceID   string       `json:"instance_id" doc:"The task's name."`
	State        RegradeState `json:"state" doc:"queued, running, done, failed (three infrastructure errors; the verdict stays) or cancelled."`
	Tries        int          `json:"tries" doc:"Tries that ended with an infrastructure error or a lost worker."`
	Failure      string       `json:"failure,omitempty" doc:"The last infrastructure error."`
	Changed      *bool        `json:"changed,omitempty" doc:"Whether passed differs from the verdict before; absent until it is done."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was asked for."`
	StartedAt    *time.Time   `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it ended."`
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
	Protections int                `json:"protections" doc:"The present version of the verifier's protections."`
	Verdicts    []ProtectionsCount `json:"verdicts" doc:"Current verdicts by version, the oldest version first."`
	// Outdated counts the trajectories that are done without a verdict of the present
	// protections; OutdatedMillis sums up how long their current verdicts took.
	Outdated       int   `json:"outdated" doc:"Trajectories that are done without a verdict of the present version: what grading again takes."`
	OutdatedMillis int64 `json:"outdated_millis" doc:"Milliseconds that their current verdicts took together."`
	// Regradings counts the latest regrading of each trajectory by state.
	Regradings map[RegradeState]int `json:"regradings" doc:"The latest regrading of each trajectory by state; states without any are absent."`
	Errors     int                  `json:"errors" doc:"Infrastructure errors and lost workers of these regradings."`
	Changed    int                  `json:"changed" doc:"Of those that are done: how many verdicts changed."`
	// Failures are those that failed, by instance; MostRegradeFailures at most.
	Failures []RegradeFailure `json:"failures" doc:"Trajectories whose submission could not be graded, by instance; 100 at most. Their verdict stays."`
}

// MostRegradeFailures bounds how many failed regradings a progress names.
const MostRegradeFailures = 100

// RegradeFailure is a trajectory whose submission could not be graded again.
type RegradeFailure struct {
	TrajectoryID ID     `json:"trajectory_id" doc:"The trajectory."`
	InstanceID   string `json:"instance_id" doc:"The task's name."`
	Failure      string `json:"failure" doc:"The last infrastructure error."`
}

// Open counts the regradings that are queued or running.
func (p RegradeProgress) Open() int {
	return p.Regradings[RegradeQueued] + p.Regradings[RegradeRunning]
}

// ProtectionsCount counts the verdicts of one version of the protections.
type ProtectionsCount struct {
	Protections int `json:"protections" doc:"Version of the protections; 0: before versions were kept."`
	Verdicts    int `json:"verdicts" doc:"Verdicts of that version."`
	Passed      int `json:"passed" doc:"Of these, how many passed."`
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
