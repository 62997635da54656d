package relabel

import (
	"context"
	"math"
	"time"
)

// Recipe is the source of states and labels (paper table 2).
type Recipe string

// The recipes. The first three need labels of the teacher. Runs of the others have no collect
// iterations.
const (
	SFT       Recipe = "sft"       // teacher states: β = 1
	DAgger    Recipe = "dagger"    // turn mixture, eq. 8
	AggreVaTe Recipe = "aggrevate" // student prefix, teacher completion, eq. 9
	OPD       Recipe = "opd"       // student states and labels, weighted by log πe − log πθ
	GRPO      Recipe = "grpo"      // student states and labels, weighted by advantages
)

// OnPolicy reports whether the recipe trains on the student's own actions, so that its runs
// sample without labels.
func (r Recipe) OnPolicy() bool { return r == OPD || r == GRPO }

// DefaultKind is the kind of an iteration that names none, and of the iterations that exports of the
// recipe's runs select.
func (r Recipe) DefaultKind() IterationKind {
	if r.OnPolicy() {
		return Sample
	}
	return Collect
}

// Run is an experiment: its tasks, teacher and schedule.
type Run struct {
	ID        ID       `json:"id" doc:"Its id."`
	Name      string   `json:"name" doc:"Its name."`
	Recipe    Recipe   `json:"recipe" doc:"sft: teacher states. dagger: turn mixture, eq. 8. aggrevate: student prefixes, eq. 9. opd, grpo: the student alone, without labels."`
	Scaffold  string   `json:"scaffold" doc:"The tools and prompts of the agents: openhands or bare to repair, reposearcher to localise, terminal in a terminal."`
	TaskKind  TaskKind `json:"task_kind" doc:"The kind of its tasks: repair, localise or terminal."`
	Prompts   Prompts  `json:"prompts" doc:"The texts that open every trajectory."`
	TasksetID ID       `json:"taskset_id" doc:"The taskset."`
	// TasksetRevision never changes: later revisions change no task of the run.
	TasksetRevision int           `json:"taskset_revision" doc:"The revision of the taskset that its tasks are drawn from."`
	Instances       []string      `json:"instances,omitempty" doc:"Instance ids of its tasks; absent: every task that is not held out."`
	TeacherID       ID            `json:"teacher_id,omitzero" doc:"The teacher policy, πe; absent: none, in a grpo run."`
	Beta            *BetaSchedule `json:"beta,omitempty" doc:"Schedule of βi."`
	Rho             *RhoSchedule  `json:"rho,omitempty" doc:"Schedule of ρi."`
	Labels          LabelMode     `json:"labels" doc:"When the teacher is asked for the labels of the student's turns: inline (during the rollout), deferred (after the iteration's last rollout), or batch (then, through the teacher's batch endpoint)."`
	// LabelRule applies to iterations that do not have their own.
	LabelRule LabelRule    `json:"label_rule" doc:"At which states of the student the teacher is asked for a label: all, every:K, uncertain:X, after_failure or first_after_parting:N, the last four optionally with a floor such as every:4+0.1, or in an aggrevate run teacher_turns:K, which ends a rollout after K turns of the teacher."`
	Limits    RunLimits    `json:"limits" doc:"Limits of each trajectory."`
	Verify    VerifyPolicy `json:"verify" doc:"Which trajectories are verified: all, none, or sample:N (N of each iteration, drawn with the seed). An evaluation verifies all."`
	Seed      int64        `json:"seed" doc:"Seed of every draw."`
	Draw      DrawMode     `json:"draw" doc:"How iterations draw their tasks: anew (from all tasks) or permutation (without replacement over the run's iterations)."`
	// The defaults of iterations, and how many are planned.
	TasksPerRound int      `json:"tasks_per_round,omitempty" doc:"Tasks that an iteration draws if its request has no number; absent: all."`
	Generations   int      `json:"generations,omitempty" doc:"Rollouts per task of an iteration if its request has no number; absent: 1."`
	Rounds        int      `json:"rounds,omitempty" doc:"Planned iterations; absent: not given. More can be started."`
	Preset        string   `json:"preset,omitempty" doc:"The experiment of the paper whose values the run took; absent: none."`
	Trainer       *Trainer `json:"trainer,omitempty" doc:"Configuration of the training after each round, which exports name; absent: not given."`
	// HintsFrom is nil in a run that gives only the hints of its tasks.
	HintsFrom *HintSource `json:"hints_from,omitempty" doc:"The evaluation whose located functions its agents get as hints; absent: none."`
	// AllowBenchmarks are names of benchmarks whose tasks its iterations may draw all the same.
	AllowBenchmarks []string `json:"allow_benchmarks,omitempty" doc:"Names of benchmarks whose tasks its iterations may collect on; absent: none."`
	Scheduling
	Budget     *Budget    `json:"budget,omitempty" doc:"Usage of model calls at which the run is paused; absent: no limit."`
	Webhook    *Webhook   `json:"webhook,omitempty" doc:"Webhook to call when an iteration or an export ends, or relabel pauses the run; absent: the default webhook, if there is one."`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was created."`
	DeletingAt *time.Time `json:"deleting_at,omitempty" doc:"When its deletion began, which continues in the background and refuses new work; absent: not being deleted."`
}

// HasTeacher reports whether the run has a teacher.
func (r Run) HasTeacher() bool { return r.TeacherID != ID{} }

// LabelMode says when the teacher labels the student's turns. The teacher's executed actions
// are their own labels in every mode.
type LabelMode string

// The modes.
const (
	LabelsInline   LabelMode = "inline"   // during the rollout, off the critical path
	LabelsDeferred LabelMode = "deferred" // after the iteration's last rollout
	LabelsBatch    LabelMode = "batch"    // deferred, through the teacher's batch endpoint
)

// Deferred reports whether labels are requested after the rollouts.
func (m LabelMode) Deferred() bool { return m == LabelsDeferred || m == LabelsBatch }

// RunLimits bounds each trajectory of a run.
type RunLimits struct {
	MaxTurns         int `json:"max_turns" doc:"Maximum turns of a trajectory (Tmax)."`
	MaxContextTokens int `json:"max_context_tokens" doc:"Maximum tokens of prompt and answer together."`
	WallClockSeconds int `json:"wall_clock_seconds" doc:"Seconds that a rollout may take, without its verification."`
	CommandSeconds   int `json:"command_seconds" doc:"Seconds without output after which a command is killed."`
	VerifySeconds    int `json:"verify_seconds" doc:"Seconds that the test command may take, and at most those of the tests of a task in a terminal."`
	// EnvironmentRetries is the number of retries after a broken sandbox or verifier; 0: the
	// trajectory fails with the first.
	EnvironmentRetries int `json:"environment_retries" doc:"Retries after attempts that ended with a broken sandbox or verifier."`
	// ScoreDepth and ObservationBytes apply to tasks to localise, and are 0 in runs of others.
	ScoreDepth       int `json:"score_depth,omitempty" doc:"k of the score nDCG@k of a ranked answer; absent in runs of tasks to repair."`
	ObservationBytes int `json:"observation_bytes,omitempty" doc:"Maximum bytes of one tool's answer, of tasks to localise: longer code is cut in the middle, and a longer structure is folded; absent in runs of tasks to repair."`
	// MaxPromptTokens and MaxResponseTokens divide the context; 0 means no limit of their own.
	MaxPromptTokens   int `json:"max_prompt_tokens,omitempty" doc:"Maximum tokens of the first prompt: a task with a longer one is skipped; absent: no limit of its own."`
	MaxResponseTokens int `json:"max_response_tokens,omitempty" doc:"Maximum tokens of everything after the first prompt, answers and observations together; absent: no limit of its own."`
}

// PaperLimits are the limits of paper F.1 and G.2, with an hour per rollout, half an hour for
// its tests and three retries after broken sandboxes.
var PaperLimits = RunLimits{MaxTurns: 100, MaxContextTokens: 65536, WallClockSeconds: 3600, CommandSeconds: 120, VerifySeconds: 1800, EnvironmentRetries: 3}

// DefaultLimits are the limits of runs with tasks of the kind: the paper's. Answers to localise are scored
// by nDCG@5, and one tool's answer has at most 30,000 bytes, so that two fill a response of 20k tokens.
func (k TaskKind) DefaultLimits() RunLimits {
	limits := PaperLimits
	if k == Localise {
		limits.ScoreDepth, limits.ObservationBytes = 5, 30_000
	}
	return limits
}

// minObservation is the least RunLimits.ObservationBytes of a search, in bytes.
const minObservation = 1000

// CheckLimits returns a CodeInvalid error that names the field if the limits that only tasks to localise have
// do not fit tasks of the kind.
func (k TaskKind) CheckLimits(l RunLimits) error {
	const applies = "applies to tasks to localise only; omit it"
	switch searches := k == Localise; {
	case searches && l.ScoreDepth < 1:
		return Errorf(CodeInvalid, "is %d; must be at least 1", l.ScoreDepth).On("limits.score_depth")
	case searches && l.ObservationBytes < minObservation:
		return Errorf(CodeInvalid, "is %d; must be at least %d", l.ObservationBytes, minObservation).On("limits.observation_bytes")
	case !searches && l.ScoreDepth != 0:
		return Errorf(CodeInvalid, applies).On("limits.score_depth")
	case !searches && l.ObservationBytes != 0:
		return Errorf(CodeInvalid, applies).On("limits.observation_bytes")
	}
	return nil
}

// BetaSchedule defines βi, the probability that the teacher executes a turn in iteration i.
type BetaSchedule struct {
	Kind   string    `json:"kind" enum:"linear,exponential,constant,list" doc:"The schedule's form."`
	Start  float64   `json:"start,omitempty" minimum:"0" maximum:"1" doc:"β1 of linear and exponential, above 0; the value of constant, 0 if absent. A probability."`
	Step   float64   `json:"step,omitempty" minimum:"0" maximum:"1" doc:"Linear: decrease per iteration."`
	Decay  float64   `json:"decay,omitempty" minimum:"0" maximum:"1" doc:"Exponential: factor per iteration."`
	Floor  float64   `json:"floor,omitempty" minimum:"0" maximum:"1" doc:"Linear and exponential: minimum."`
	Values []float64 `json:"values,omitempty" maxItems:"10000" doc:"List: β1, β2, …, each a probability; the last one applies to all later iterations."`
}

// PaperBeta is βi = max(0.6, 1.0 − 0.2 (i−1)) (paper F.1).
var PaperBeta = BetaSchedule{Kind: "linear", Start: 1, Step: 0.2, Floor: 0.6}

// PaperRho is ρi of the paper: Unif{0, …, 40}, its mass moving to longer student
// prefixes as iterations pass (F.1).
var PaperRho = RhoSchedule{Kind: "shifting", Max: 40}

// RhoSchedule defines ρi, the distribution of the student-prefix length κ in iteration i.
type RhoSchedule struct {
	Kind   string `json:"kind" enum:"shifting,uniform,constant,list,ranges,weights" doc:"The schedule's form."`
	Max    int    `json:"max,omitempty" minimum:"0" maximum:"1000" doc:"Largest κ of shifting and uniform, at least 1; the value of constant, 0 if absent. In turns."`
	Values []int  `json:"values,omitempty" maxItems:"10000" doc:"List: κ of iteration 1, 2, …, in turns; the last one applies to all later iterations."`
	// Ranges and Weights give a law for each iteration.
	Ranges  [][]int     `json:"ranges,omitempty" maxItems:"10000" doc:"Ranges: [lowest, highest] κ of iteration 1, 2, …, in turns, all equally likely; the last range applies to all later iterations."`
	Weights [][]float64 `json:"weights,omitempty" maxItems:"10000" doc:"Weights: for iteration 1, 2, … the weights of κ = 0, 1, 2, …, which need not add up to 1; the last list applies to all later iterations."`
}

// IterationKind is the purpose of an iteration.
type IterationKind string

// The kinds of iteration.
const (
	Collect  IterationKind = "collect"  // mixture rollouts with labels
	Evaluate IterationKind = "evaluate" // only the student, greedy, without labels
	Sample   IterationKind = "sample"   // only the student, at its own sampling, without labels
)

// Labelled reports whether the turns of the iteration have labels of the teacher, whose
// endpoint the other kinds never call.
func (k IterationKind) Labelled() bool { return k == Collect }

// LimitsIn returns the limits of the iteration's trajectories: those of its benchmark, or of its run.
func (it Iteration) LimitsIn(run Run) RunLimits {
	if it.Limits != nil {
		return *it.Limits
	}
	return run.Limits
}

// IterationState is the state of an iteration.
type IterationState string

// The states of an iteration.
const (
	IterationRunning   IterationState = "running"
	IterationDone      IterationState = "done"
	IterationCancelled IterationState = "cancelled"
)

// Iteration is round i of a run, with the student checkpoint of this round.
type Iteration struct {
	ID          ID            `json:"id" doc:"Its id."`
	RunID       ID            `json:"run_id" doc:"The run."`
	Number      int           `json:"number" doc:"i, from 1; each kind is numbered separately."`
	Kind        IterationKind `json:"kind" doc:"collect: mixture rollouts with labels. evaluate: only the student, greedy. sample: only the student, at its own sampling."`
	StudentID   ID            `json:"student_id" doc:"The student policy of this round, πθ."`
	Beta        *float64      `json:"beta,omitempty" doc:"βi, the probability that the teacher executes a turn, of a dagger or sft round."`
	Rho         *RhoSchedule  `json:"rho,omitempty" doc:"ρi, the distribution of κ, of an aggrevate round."`
	Generations int           `json:"generations" doc:"Rollouts per task."`
	LabelRule   LabelRule     `json:"label_rule" doc:"At which states of the student the teacher is asked for a label; all in iterations without labels."`
	Verify      VerifyPolicy  `json:"verify" doc:"Which of its trajectories are verified: all, none or sample:N."`
	AgainID     *ID           `json:"again_id,omitempty" doc:"The iteration whose draw it repeats; absent: a new draw."`
	Walk        *Walk         `json:"walk,omitempty" doc:"Its place in the permutations of the run's tasks; absent: its tasks were drawn anew or named."`

	// BenchmarkID and Limits are those of an iteration that only measures; nil in other iterations.
	BenchmarkID *ID        `json:"benchmark_id,omitempty" doc:"The benchmark whose tasks an evaluation, or a sample on a benchmark or held-out tasks, rolls out; absent in other iterations. No state of such an iteration is exported."`
	Limits      *RunLimits `json:"limits,omitempty" doc:"Limits of each of its trajectories, those of its benchmark; absent: the run's."`
	// AllowBenchmarks are names of benchmarks whose tasks it may have drawn, the run's among them;
	// ReservedTasks counts the tasks of other benchmarks that its draw excluded.
	AllowBenchmarks []string `json:"allow_benchmarks,omitempty" doc:"Names of benchmarks whose tasks it may have drawn; absent: none."`
	ReservedTasks   int      `json:"reserved_tasks,omitempty" doc:"Tasks that its draw excluded since benchmarks or exclusion lists reserve them; absent: none."`

	State  IterationState `json:"state" doc:"running, done or cancelled."`
	Paused *Pause         `json:"paused,omitempty" doc:"Its pause; absent: not paused, unless its run is."`
	// LabellingSince is when deferred labels began to be asked for; nil before, and in runs
	// whose labels are asked for beside the rollouts.
	LabellingSince *time.Time `json:"labelling_since,omitempty" doc:"When labelling started, in a run with deferred or batch labels; absent before, and in other runs."`
	CreatedAt      time.Time  `json:"created_at" doc:"When it was started."`
	EndedAt        *time.Time `json:"ended_at,omitempty" doc:"When its last trajectory ended."`
	RegradedAt     *time.Time `json:"regraded_at,omitempty" doc:"When a verdict of its trajectories was last replaced; absent: never."`
}

// Progress counts an iteration's trajectories and labels.
type Progress struct {
	Trajectories   map[TrajectoryState]int `json:"trajectories" doc:"Trajectories by state; states without any are absent."`
	Turns          int                     `json:"turns" doc:"Committed turns."`
	TeacherTurns   int                     `json:"teacher_turns" doc:"Turns that the teacher executed."`
	LabelsReceived int                     `json:"labels_received" doc:"Received labels."`
	LabelsPending  int                     `json:"labels_pending" doc:"Pending labels."`
	LabelsMissed   int                     `json:"labels_missing" doc:"Missing labels."`
	// LabelsNotSelected counts states at which the label rule did not ask.
	LabelsNotSelected int `json:"labels_not_selected" doc:"Labels that were not requested because the label rule did not select their states."`
	Submitted         int `json:"submitted" doc:"Trajectories with a valid submission."`
	Resolved          int `json:"resolved" doc:"Trajectories that are resolved: submitted and passed."`
	// PassedUnsubmitted counts trajectories whose patch passes but was never submitted.
	PassedUnsubmitted int `json:"passed_unsubmitted" doc:"Trajectories whose patch passes but was never submitted: not resolved."`
	Verified          int `json:"verified" doc:"Trajectories with a verdict, without infrastructure errors."`
	Unverified        int `json:"unverified" doc:"Done trajectories that were not verified: they have no verdict."`
	// Cut counts rollouts that the label rule ended, see EndReason.Cut.
	Cut int `json:"cut" doc:"Done trajectories whose rollout the label rule teacher_turns:K ended, or that were skipped because their first prompt is too long: without a submission and a verdict, and neither resolved nor unresolved."`
	// Scored counts trajectories with a score, Hit those of them whose answer names a gold location.
	Scored int `json:"scored" doc:"Trajectories with a score, of tasks to localise."`
	Hit    int `json:"hit" doc:"Scored trajectories whose answer names at least one gold location."`
	// MeanScore is over the scored trajectories.
	MeanScore *float64 `json:"mean_score,omitempty" doc:"Mean of the scores, from 0 to 1; absent without any."`
}

// Budget bounds the usage of a run's calls. Reaching one of the bounds pauses the run. Calls
// in flight and current turns finish, so usage exceeds the budget by at most theirs.
type Budget struct {
	Tokens int64   `json:"tokens,omitempty" minimum:"0" maximum:"1000000000000000" doc:"Maximum tokens of prompts and answers together; 0: no limit."`
	Cost   float64 `json:"cost,omitempty" minimum:"0" maximum:"1000000000" doc:"Maximum cost, in the currency of the policies' prices; 0: no limit."`
}

// Validate returns a CodeInvalid error if the cost of b rounds to zero. The tags have its bounds.
func (b Budget) Validate() error {
	if b.Cost > 0 && b.CostMicros() == 0 {
		return Errorf(CodeInvalid, "%v is less than a millionth", b.Cost).On("budget.cost")
	}
	return nil
}

// CostMicros returns the bound of the cost in millionths of the currency.
func (b Budget) CostMicros() int64 { return int64(math.Round(b.Cost * 1e6)) }

// Spent is the usage of a run's calls, including failed calls if their servers reported it.
type Spent struct {
	Calls            int64   `json:"calls" doc:"Calls."`
	Tokens           int64   `json:"tokens" doc:"Tokens of prompts and answers together."`
	PromptTokens     int64   `json:"prompt_tokens" doc:"Tokens of prompts."`
	CachedTokens     int64   `json:"cached_tokens" doc:"Tokens of prompts that came from a server's cache."`
	CompletionTokens int64   `json:"completion_tokens" doc:"Tokens of answers."`
	Cost             float64 `json:"cost" doc:"Cost of the calls to policies with prices."`
}

// Spending is the usage of the calls to one policy for one iteration of a run.
type Spending struct {
	IterationID ID
	PolicyID    ID
	Spent
}

// RunSpending is the usage of a run's calls to one policy.
type RunSpending struct {
	RunID     ID
	RunName   string
	CreatedAt time.Time // of the run
	Spent
}

// RunContents counts what a run contains, which its deletion deletes.
type RunContents struct {
	Iterations   int   `json:"iterations" doc:"Iterations."`
	Trajectories int   `json:"trajectories" doc:"Trajectories."`
	Turns        int64 `json:"turns" doc:"Turns of all attempts of its trajectories."`
	Calls        int64 `json:"calls" doc:"Stored model calls; an estimate for a run of more than 200 trajectories."`
	Reviews      int   `json:"reviews" doc:"Reviews of its trajectories."`
	Exports      int   `json:"exports" doc:"Records of exports; their files are kept."`
	Bytes        int64 `json:"bytes" doc:"Stored bytes of observations and actions; an estimate for a run of more than 200 trajectories."`
	// Refused says why the run cannot be deleted now; "" if it can.
	Refused string `json:"refused,omitempty" doc:"Why it cannot be deleted now; absent if it can."`
	// Deleting says whether the run is being deleted in the background.
	Deleting bool `json:"deleting,omitempty" doc:"Whether it is being deleted in the background."`
}

// Grid holds the outcomes of a run's tasks by iteration.
type Grid struct {
	Iterations []Iteration // in the order of their creation
	Rows       []GridRow   // by instance id
	Tasks      int         // of the run, on all pages
}

// GridRow is one task, with a cell for each of the grid's iterations.
type GridRow struct {
	TaskID     ID
	TasksetID  ID // of an evaluation's benchmark, it may be another one than the run's
	InstanceID string
	HeldOut    bool
	Cells      []GridCell
}

// GridCell counts a task's trajectories in one iteration, each in one field. All are 0 if the
// iteration did not draw the task.
type GridCell struct {
	Resolved int
	// PassedUnsubmitted counts trajectories that pass and were not submitted, TimeLimit those that
	// do not pass and reached the time limit, Failed the other unresolved ones.
	PassedUnsubmitted int
	Failed            int
	TimeLimit         int
	Error             int // infrastructure errors: failed, or the verifier broke
	Unverified        int // done without a verdict, because it was not to be verified
	Cut               int // done without a verdict, because the label rule ended its rollout
	Hit               int // scored, and the answer names a gold location
	Missed            int // scored, and it names none
	Running           int // claimed and not ended
	Queued            int
	Cancelled         int
	Only              *ID // the trajectory, if there is only one
}

// Generations is the number of trajectories in the cell.
func (c GridCell) Generations() int {
	return c.Resolved + c.PassedUnsubmitted + c.Failed + c.TimeLimit + c.Error + c.Unverified + c.Cut + c.Hit + c.Missed + c.Running + c.Queued + c.Cancelled
}

// RunStore stores runs.
type RunStore interface {
	// CreateRun stores a run. CodeConflict if another one has the name.
	CreateRun(ctx context.Context, r Run) error
	FindRun(ctx context.Context, id ID) (Run, error)
	FindRunByName(ctx context.Context, name string) (Run, error)
	ListRuns(ctx context.Context, p Page) (runs []Run, next string, err error)

	// CountRun counts the contents of a run. BeginDeletion marks it as being deleted:
	// CodeConflict while an iteration runs or an export is built. FinishDeletion deletes a marked
	// run in steps and stops when ctx ends; a later call continues.
	CountRun(ctx context.Context, id ID) (RunContents, error)
	BeginDeletion(ctx context.Context, run ID) error
	FinishDeletion(ctx context.Context, run ID) error
}

// IterationStore stores iterations with their trajectories.
type IterationStore interface {
	// CreateIteration stores an iteration with its trajectories and queues a job for
	// each, in one transaction. CodeConflict when the number is taken, or a benchmark has come to reserve
	// one of the tasks of an iteration for training.
	CreateIteration(ctx context.Context, p PlannedIteration) error
	FindIteration(ctx context.Context, id ID) (Iteration, Progress, error)
	// FindDraw returns the draw of an iteration.
	FindDraw(ctx context.Context, iteration ID) (Draw, error)
	// ListWalked lists the draws of a run's iterations of a kind along permutations, in order.
	ListWalked(ctx context.Context, run ID, kind IterationKind) ([]WalkedDraw, error)
	ListIterations(ctx context.Context, run ID) ([]Iteration, error)
	// ListPassAtK returns pass@k for k = 1, 2, 4, … and the number of generations; nil without a verdict, for an
	// iteration that has one generation or is no evaluation and no sample.
	ListPassAtK(ctx context.Context, it Iteration) ([]PassAtK, error)
	// CancelIteration cancels its trajectories that are not terminal; the workers that own them
	// notice within a second. CancelRun does so for each running iteration of the run.
	CancelIteration(ctx context.Context, id ID) (Iteration, error)
	CancelRun(ctx context.Context, id ID) (Run, error)
}
