package relabel

import "time"

// Recipe names where states come from and which labels train (paper table 2).
type Recipe string

// The recipes. A run has one of the first three, which need only teacher labels.
const (
	SFT       Recipe = "sft"       // teacher states: β = 1
	DAgger    Recipe = "dagger"    // turn mixture, eq. 8
	AggreVaTe Recipe = "aggrevate" // student prefix, teacher completion, eq. 9
	OPD       Recipe = "opd"       // student states and labels, weighted by log πe − log πθ
	GRPO      Recipe = "grpo"      // student states and labels, weighted by advantages
)

// Run is an experiment: what is rolled out, by which teacher, on which schedule.
type Run struct {
	ID        ID            `json:"id"`
	Name      string        `json:"name"`
	Recipe    Recipe        `json:"recipe"`
	Scaffold  string        `json:"scaffold"` // "openhands"
	Prompts   Prompts       `json:"prompts"`
	TasksetID ID            `json:"taskset_id"`
	Instances []string      `json:"instances,omitempty"` // empty: every task that is not held out
	TeacherID ID            `json:"teacher_id"`
	Beta      *BetaSchedule `json:"beta,omitempty"` // of dagger
	Rho       *RhoSchedule  `json:"rho,omitempty"`  // of aggrevate
	Labels    LabelMode     `json:"labels"`         // when labels are asked for; "" is beside
	Limits    RunLimits     `json:"limits"`
	Seed      int64         `json:"seed"`
	Scheduling
	Budget     *Budget    `json:"budget,omitempty"`  // nil: no bound
	Webhook    *Webhook   `json:"webhook,omitempty"` // nil: that of all runs, if there is one
	CreatedAt  time.Time  `json:"created_at"`
	DeletingAt *time.Time `json:"deleting_at,omitempty"` // when its deletion began, which goes on in the background; nil: it is kept
}

// LabelMode says when the teacher is asked for the labels of the student's turns. A turn
// that the teacher executes is labelled by that action in every mode.
type LabelMode string

// The modes.
const (
	LabelsBeside   LabelMode = "beside"   // while the student acts, off the critical path
	LabelsDeferred LabelMode = "deferred" // after the iteration's last rollout
	LabelsBatch    LabelMode = "batch"    // then too, through the teacher's batch endpoint
)

// Deferred reports whether labels are asked for apart from the rollouts.
func (m LabelMode) Deferred() bool { return m == LabelsDeferred || m == LabelsBatch }

// RunLimits bounds each trajectory of a run.
type RunLimits struct {
	MaxTurns         int `json:"max_turns"`          // Tmax
	MaxContextTokens int `json:"max_context_tokens"` // prompt and answer, as the executor's server counts
	WallClockSeconds int `json:"wall_clock_seconds"` // of the rollout, without verification
	CommandSeconds   int `json:"command_seconds"`    // a command without output is ended after this
	VerifySeconds    int `json:"verify_seconds"`     // of the test command
	// EnvironmentRetries is how many attempts may end with a broken sandbox or verifier
	// before the trajectory fails; 0: it fails with the first.
	EnvironmentRetries int `json:"environment_retries"`
}

// PaperLimits are those of paper F.1 and G.2, with an hour for a rollout, half an hour
// for its tests and three further attempts where sandboxes break.
var PaperLimits = RunLimits{MaxTurns: 100, MaxContextTokens: 65536, WallClockSeconds: 3600, CommandSeconds: 120, VerifySeconds: 1800, EnvironmentRetries: 3}

// BetaSchedule says βi, the chance that the teacher executes a turn in iteration i.
type BetaSchedule struct {
	Kind   string    `json:"kind"`             // linear, exponential, constant, list
	Start  float64   `json:"start,omitempty"`  // β1 of linear and exponential; the value of constant
	Step   float64   `json:"step,omitempty"`   // linear: what is taken off an iteration
	Decay  float64   `json:"decay,omitempty"`  // exponential: the factor an iteration
	Floor  float64   `json:"floor,omitempty"`  // linear and exponential: never below
	Values []float64 `json:"values,omitempty"` // list: β1, β2, …; the last one holds on
}

// RhoSchedule says ρi, the law of the student-prefix length κ in iteration i.
type RhoSchedule struct {
	Kind   string `json:"kind"`             // shifting, uniform, constant, list
	Max    int    `json:"max,omitempty"`    // largest κ of shifting and uniform; the value of constant
	Values []int  `json:"values,omitempty"` // list: κ of iteration 1, 2, …; the last one holds on
}

// IterationKind says what an iteration is for.
type IterationKind string

// The kinds of iteration.
const (
	Collect  IterationKind = "collect"  // mixture rollouts with labels
	Evaluate IterationKind = "evaluate" // the student alone, greedy, without labels
)

// IterationState is where an iteration stands.
type IterationState string

// The states of an iteration.
const (
	IterationRunning   IterationState = "running"
	IterationDone      IterationState = "done"
	IterationCancelled IterationState = "cancelled"
)

// Iteration is round i of a run, with the student checkpoint of this round.
type Iteration struct {
	ID          ID             `json:"id"`
	RunID       ID             `json:"run_id"`
	Number      int            `json:"number"` // i, from 1; collect and evaluate iterations count apart
	Kind        IterationKind  `json:"kind"`
	StudentID   ID             `json:"student_id"`
	Beta        *float64       `json:"beta,omitempty"`     // βi of a dagger or sft round
	Rho         *RhoSchedule   `json:"rho,omitempty"`      // of an aggrevate round
	Generations int            `json:"generations"`        // rollouts a task
	AgainID     *ID            `json:"again_id,omitempty"` // the iteration whose draw this one repeats; nil: none, or it was deleted
	State       IterationState `json:"state"`
	Paused      *Pause         `json:"paused,omitempty"` // by itself; its run may be paused too
	// LabellingSince is when deferred labels began to be asked for; nil before, and in runs
	// whose labels are asked for beside the rollouts.
	LabellingSince *time.Time `json:"labelling_since,omitempty"`
	CreatedAt      time.Time  `json:"created_at"`
	EndedAt        *time.Time `json:"ended_at,omitempty"`
	RegradedAt     *time.Time `json:"regraded_at,omitempty"` // when a verdict of its trajectories was last replaced
}

// Progress counts an iteration's trajectories and labels.
type Progress struct {
	Trajectories map[TrajectoryState]int `json:"trajectories"` // by state; states without any are left out
	Turns        int                     `json:"turns"`
	TeacherTurns int                     `json:"teacher_turns"` // turns that the teacher executed
	LabelsHad    int                     `json:"labels_had"`
	LabelsOwed   int                     `json:"labels_owed"`
	LabelsMissed int                     `json:"labels_missing"`
	Submitted    int                     `json:"submitted"` // valid submissions
	Resolved     int                     `json:"resolved"`  // submitted and passed
	// PassedUnsubmitted counts those whose patch passes but was never submitted.
	PassedUnsubmitted int `json:"passed_unsubmitted"`
	Verified          int `json:"verified"` // with a verdict that is no infrastructure error
}
