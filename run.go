package relabel

import (
	"context"
	"math"
	"time"
)

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
	ID        ID            `json:"id" doc:"Its id."`
	Name      string        `json:"name" doc:"Its name."`
	Recipe    Recipe        `json:"recipe" doc:"sft: teacher states. dagger: turn mixture, eq. 8. aggrevate: student prefixes, eq. 9."`
	Scaffold  string        `json:"scaffold" doc:"The tools and prompts that agents work with."`
	Prompts   Prompts       `json:"prompts" doc:"The texts that open every trajectory."`
	TasksetID ID            `json:"taskset_id" doc:"The taskset."`
	Instances []string      `json:"instances,omitempty" doc:"Instance ids that are rolled out; absent: every task that is not held out."`
	TeacherID ID            `json:"teacher_id" doc:"The teacher policy, πe."`
	Beta      *BetaSchedule `json:"beta,omitempty" doc:"Schedule of βi."`
	Rho       *RhoSchedule  `json:"rho,omitempty" doc:"Schedule of ρi."`
	Labels    LabelMode     `json:"labels" doc:"When the teacher is asked for the labels of the student's turns: inline (during the rollout), deferred until the iteration's last rollout is over, or batch: then and through its batch endpoint."`
	Limits    RunLimits     `json:"limits" doc:"Bounds of each trajectory."`
	Seed      int64         `json:"seed" doc:"Seed of every draw."`
	Scheduling
	Budget     *Budget    `json:"budget,omitempty" doc:"What its calls may use before it is paused; absent: no bound."`
	Webhook    *Webhook   `json:"webhook,omitempty" doc:"Who is told of its ends and pauses; absent: the webhook of all runs, if there is one."`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was made."`
	DeletingAt *time.Time `json:"deleting_at,omitempty" doc:"When its deletion began, which goes on in the background: nothing new can be begun in it; absent: it is kept."`
}

// LabelMode says when the teacher is asked for the labels of the student's turns. A turn
// that the teacher executes is labelled by that action in every mode.
type LabelMode string

// The modes.
const (
	LabelsInline   LabelMode = "inline"   // while the student acts, off the critical path
	LabelsDeferred LabelMode = "deferred" // after the iteration's last rollout
	LabelsBatch    LabelMode = "batch"    // then too, through the teacher's batch endpoint
)

// Deferred reports whether labels are asked for apart from the rollouts.
func (m LabelMode) Deferred() bool { return m == LabelsDeferred || m == LabelsBatch }

// RunLimits bounds each trajectory of a run.
type RunLimits struct {
	MaxTurns         int `json:"max_turns" doc:"Most turns of a trajectory (Tmax)."`
	MaxContextTokens int `json:"max_context_tokens" doc:"Most tokens of prompt and answer together."`
	WallClockSeconds int `json:"wall_clock_seconds" doc:"Seconds that a rollout may take, without its verification."`
	CommandSeconds   int `json:"command_seconds" doc:"Seconds without output after which a command is ended."`
	VerifySeconds    int `json:"verify_seconds" doc:"Seconds that the test command may take."`
	// EnvironmentRetries is how many attempts may end with a broken sandbox or verifier
	// before the trajectory fails; 0: it fails with the first.
	EnvironmentRetries int `json:"environment_retries" doc:"Attempts that may end with a broken sandbox or verifier before a trajectory fails."`
}

// PaperLimits are those of paper F.1 and G.2, with an hour for a rollout, half an hour
// for its tests and three further attempts where sandboxes break.
var PaperLimits = RunLimits{MaxTurns: 100, MaxContextTokens: 65536, WallClockSeconds: 3600, CommandSeconds: 120, VerifySeconds: 1800, EnvironmentRetries: 3}

// BetaSchedule says βi, the chance that the teacher executes a turn in iteration i.
type BetaSchedule struct {
	Kind   string    `json:"kind" enum:"linear,exponential,constant,list" doc:"The schedule's form."`
	Start  float64   `json:"start,omitempty" minimum:"0" maximum:"1" doc:"β1 of linear and exponential, the value of constant; a probability."`
	Step   float64   `json:"step,omitempty" minimum:"0" maximum:"1" doc:"Linear: what is taken off an iteration."`
	Decay  float64   `json:"decay,omitempty" minimum:"0" maximum:"1" doc:"Exponential: the factor an iteration."`
	Floor  float64   `json:"floor,omitempty" minimum:"0" maximum:"1" doc:"Linear and exponential: never below this."`
	Values []float64 `json:"values,omitempty" maxItems:"10000" doc:"List: β1, β2, …, each a probability; the last one applies to all later iterations."`
}

// RhoSchedule says ρi, the law of the student-prefix length κ in iteration i.
type RhoSchedule struct {
	Kind   string `json:"kind" enum:"shifting,uniform,constant,list" doc:"The schedule's form."`
	Max    int    `json:"max,omitempty" minimum:"0" maximum:"1000" doc:"Largest κ of shifting and uniform, the value of constant; in turns."`
	Values []int  `json:"values,omitempty" maxItems:"10000" doc:"List: κ of iteration 1, 2, …, in turns; the last one applies to all later iterations."`
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
	ID          ID             `json:"id" doc:"Its id."`
	RunID       ID             `json:"run_id" doc:"The run."`
	Number      int            `json:"number" doc:"i, from 1; collect and evaluate iterations count apart."`
	Kind        IterationKind  `json:"kind" doc:"collect: mixture rollouts with labels. evaluate: the student alone, greedy."`
	StudentID   ID             `json:"student_id" doc:"The student policy of this round, πθ."`
	Beta        *float64       `json:"beta,omitempty" doc:"βi, the chance that the teacher executes a turn, of a dagger or sft round."`
	Rho         *RhoSchedule   `json:"rho,omitempty" doc:"ρi, the law of κ, of an aggrevate round."`
	Generations int            `json:"generations" doc:"Rollouts a task."`
	AgainID     *ID            `json:"again_id,omitempty" doc:"The iteration whose draw it repeats; absent: it has a draw of its own."`
	State       IterationState `json:"state" doc:"running, done or cancelled."`
	Paused      *Pause         `json:"paused,omitempty" doc:"Its own pause; absent: it goes on, unless its run is paused."`
	// LabellingSince is when deferred labels began to be asked for; nil before, and in runs
	// whose labels are asked for beside the rollouts.
	LabellingSince *time.Time `json:"labelling_since,omitempty" doc:"When deferred labels began to be asked for; absent before, and where labels are not deferred."`
	CreatedAt      time.Time  `json:"created_at" doc:"When it was started."`
	EndedAt        *time.Time `json:"ended_at,omitempty" doc:"When its last trajectory came to its end."`
	RegradedAt     *time.Time `json:"regraded_at,omitempty" doc:"When a verdict of its trajectories was last replaced; absent: never."`
}

// Progress counts an iteration's trajectories and labels.
type Progress struct {
	Trajectories   map[TrajectoryState]int `json:"trajectories" doc:"Trajectories by state; states without any are left out."`
	Turns          int                     `json:"turns" doc:"Committed turns."`
	TeacherTurns   int                     `json:"teacher_turns" doc:"Turns that the teacher executed."`
	LabelsReceived int                     `json:"labels_received" doc:"Labels that are there."`
	LabelsPending  int                     `json:"labels_pending" doc:"Labels that are asked for."`
	LabelsMissed   int                     `json:"labels_missing" doc:"Labels that cannot be had."`
	Submitted      int                     `json:"submitted" doc:"Trajectories with a valid submission."`
	Resolved       int                     `json:"resolved" doc:"Trajectories that are resolved: submitted and passed."`
	// PassedUnsubmitted counts those whose patch passes but was never submitted.
	PassedUnsubmitted int `json:"passed_unsubmitted" doc:"Trajectories whose patch passes and was never submitted: not resolved."`
	Verified          int `json:"verified" doc:"Trajectories with a verdict that is no infrastructure error."`
}

// MaxBudgetTokens and MaxBudgetCost bound budgets.
const (
	MaxBudgetTokens = 1_000_000_000_000_000
	MaxBudgetCost   = 1_000_000_000.0
)

// Budget bounds what a run's calls may use, both if both are set. When it is reached the
// run is paused. Calls in flight then are not cut, so that it is overdrawn by at most
// what they, and the turns in hand, use.
type Budget struct {
	Tokens int64   `json:"tokens,omitempty" minimum:"0" maximum:"1000000000000000" doc:"Maximum tokens of prompts and answers together; 0: no limit."`
	Cost   float64 `json:"cost,omitempty" minimum:"0" maximum:"1000000000" doc:"Maximum cost, in the currency of the policies' prices; 0: no limit."`
}

// Validate reports the first thing wrong with b as a CodeInvalid error on its field.
func (b Budget) Validate() error {
	switch {
	case b.Tokens < 0 || b.Tokens > MaxBudgetTokens:
		return Errorf(CodeInvalid, "%d is not in 0 to %d", b.Tokens, int64(MaxBudgetTokens)).On("budget.tokens")
	case !(b.Cost >= 0 && b.Cost <= MaxBudgetCost):
		return Errorf(CodeInvalid, "%v is not in 0 to %v", b.Cost, MaxBudgetCost).On("budget.cost")
	case b.Cost > 0 && b.CostMicros() == 0:
		return Errorf(CodeInvalid, "%v is less than a millionth", b.Cost).On("budget.cost")
	}
	return nil
}

// CostMicros is the bound of the cost in millionths of the currency.
func (b Budget) CostMicros() int64 { return int64(math.Round(b.Cost * 1e6)) }

// Spent is what a run's calls have used, those that failed too as far as their servers
// said so.
type Spent struct {
	Calls            int64   `json:"calls" doc:"Calls."`
	Tokens           int64   `json:"tokens" doc:"Tokens of prompts and answers together."`
	PromptTokens     int64   `json:"prompt_tokens" doc:"Tokens of prompts."`
	CachedTokens     int64   `json:"cached_tokens" doc:"Tokens of prompts that came from a server's cache."`
	CompletionTokens int64   `json:"completion_tokens" doc:"Tokens of answers."`
	Cost             float64 `json:"cost" doc:"What they cost, as far as the policies have prices."`
}

// Spending is what the calls to one policy for one iteration of a run have used.
type Spending struct {
	IterationID ID
	PolicyID    ID
	Spent
}

// RunSpending is what a run's calls to one policy have used.
type RunSpending struct {
	RunID     ID
	RunName   string
	CreatedAt time.Time // of the run
	Spent
}

// RunContents says what a run consists of, and so what is deleted with it.
type RunContents struct {
	Iterations   int   `json:"iterations" doc:"Iterations."`
	Trajectories int   `json:"trajectories" doc:"Trajectories."`
	Turns        int64 `json:"turns" doc:"Turns of the attempts that count."`
	Calls        int64 `json:"calls" doc:"Model calls that are kept; of a run of more than 200 trajectories an estimate."`
	Reviews      int   `json:"reviews" doc:"Reviews of its trajectories."`
	Exports      int   `json:"exports" doc:"Entries of exports; the files that they wrote stay."`
	Bytes        int64 `json:"bytes" doc:"Bytes of observations and actions as they are stored; of a run of more than 200 trajectories an estimate."`
	// Refused says why the run cannot be deleted now; "" where it can.
	Refused string `json:"refused,omitempty" doc:"Why it cannot be deleted now; absent where it can."`
	// Deleting says that the run is being deleted in the background.
	Deleting bool `json:"deleting,omitempty" doc:"It is being deleted, in the background; absent otherwise."`
}

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

// RunStore stores runs.
type RunStore interface {
	// CreateRun stores a run. CodeConflict when another one has the name.
	CreateRun(ctx context.Context, r Run) error
	FindRun(ctx context.Context, id ID) (Run, error)
	FindRunByName(ctx context.Context, name string) (Run, error)
	ListRuns(ctx context.Context, p Page) (runs []Run, next string, err error)

	// CountRun says what a run consists of. BeginDeletion marks it as being deleted:
	// CodeConflict while an iteration runs or an export is built. FinishDeletion deletes a
	// marked run piece by piece; what it has deleted when ctx ends stays deleted.
	CountRun(ctx context.Context, id ID) (RunContents, error)
	BeginDeletion(ctx context.Context, run ID) error
	FinishDeletion(ctx context.Context, run ID) error
}

// IterationStore stores iterations with their trajectories.
type IterationStore interface {
	// CreateIteration stores an iteration with its trajectories and queues a job for
	// each, in one transaction. CodeConflict when the number is taken.
	CreateIteration(ctx context.Context, p PlannedIteration) error
	FindIteration(ctx context.Context, id ID) (Iteration, Progress, error)
	// FindDraw returns what an iteration rolls out.
	FindDraw(ctx context.Context, iteration ID) (Draw, error)
	ListIterations(ctx context.Context, run ID) ([]Iteration, error)
	// CancelIteration moves its trajectories that are not terminal to cancelled; the
	// workers that own them notice within a second. CancelRun does so for each iteration of
	// the run that is running.
	CancelIteration(ctx context.Context, id ID) (Iteration, error)
	CancelRun(ctx context.Context, id ID) (Run, error)
}
