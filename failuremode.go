package relabel

import (
	"context"
)

// FailureMode is the primary mode of a trajectory that is not resolved (section 4.5). A trajectory
// has the first mode that holds, in the order of NotSubmittedModes or of SubmittedModes.
type FailureMode string

// The modes of trajectories without a valid submission, then those of submissions that are not
// resolved.
const (
	ModeLoop     FailureMode = "loop"     // the rollout ends in a repetition of one action or of a short cycle
	ModeOverflow FailureMode = "overflow" // the state no longer fits the context limit
	ModeBudget   FailureMode = "budget"   // turns or time were used up
	ModeNoEdit   FailureMode = "no_edit"  // the patch is empty
	ModeOther    FailureMode = "other"    // none of these; the paper has no such mode

	ModeSyntax        FailureMode = "syntax_or_runtime" // a changed file does not compile, or no test of the task could be collected
	ModeWrongFile     FailureMode = "wrong_file"        // no file of the gold patch is changed
	ModeWrongSolution FailureMode = "wrong_solution"    // none of these
)

// NotSubmittedModes and SubmittedModes are the two partitions, in the order of precedence.
var (
	NotSubmittedModes = []FailureMode{ModeLoop, ModeOverflow, ModeBudget, ModeNoEdit, ModeOther}
	SubmittedModes    = []FailureMode{ModeSyntax, ModeWrongFile, ModeWrongSolution}
)

// FailureRules is the version of the rules that compute modes. Every change that can alter what is
// computed of a stored trajectory raises it, and each is then computed again: 2 also compares student
// and teacher, 3 tells warnings of compilers and names that are no tool's. docs/failures.md has the rules.
const FailureRules = 3

// ToolUseErrorTurns is the number of turns with a tool-use error from which a trajectory has one.
const ToolUseErrorTurns = 1

// FailureFinding is what the rules found in one done trajectory.
type FailureFinding struct {
	Mode         FailureMode `json:"mode,omitempty" doc:"Primary failure mode; absent if the trajectory is resolved, submitted without a verdict, or its label rule ended the rollout."`
	Reason       string      `json:"reason,omitempty" doc:"What the mode was concluded from."`
	Turns        []int       `json:"turns" nullable:"false" doc:"Turns that show the mode; empty if none does."`
	ToolUseError bool        `json:"tool_use_error" doc:"Whether a call was malformed, named an unknown tool or was refused by the tool, in at least one turn. It is in neither partition of the modes, and resolved trajectories may have it."`
	ToolTurns    []int       `json:"tool_turns" nullable:"false" doc:"The turns with such a call."`
	Rules        int         `json:"rules" doc:"Version of the rules."`
	// Comparisons are its student turns with a label. FindFailure does not return them.
	Comparisons []TurnComparison `json:"-" db:"-"`
}

// FailureEvidence is what a mode is computed from, apart from the turns.
type FailureEvidence struct {
	Trajectory Trajectory
	Kind       TaskKind // of its task; only tasks to repair have modes
	Patch      []byte   // the submission; nil if it could not be taken
	GoldPatch  string   // "" if the task has none
	Verdict    *Verdict
}

// FailureCount is the number of trajectories with a mode among those of its partition.
type FailureCount struct {
	Mode FailureMode `json:"mode" doc:"The mode."`
	Proportion
}

// Proportion is a count, its denominator, and the share with its 95% interval.
type Proportion struct {
	Count int      `json:"count" doc:"How many there are."`
	Of    int      `json:"of" doc:"The denominator."`
	Share *float64 `json:"share,omitempty" doc:"count / of, 0 to 1; absent if of is 0."`
	Low   *float64 `json:"low,omitempty" doc:"Lower bound of the 95% interval of the share: Wilson's with one rollout per task, else clustered by task."`
	High  *float64 `json:"high,omitempty" doc:"Upper bound of the interval."`
	// Interval is how the interval was computed.
	Interval IntervalMethod `json:"interval,omitempty" enum:"wilson,clustered,wilson_by_task" doc:"wilson: Wilson's, with one rollout per task. clustered: by task, with several. wilson_by_task: Wilson's with one trial per task, since with one task or equal shares in all of them there is no clustered one. Absent without an interval."`
}

// IntervalMethod is a way to compute the interval of a share.
type IntervalMethod string

// The ways. Clustered intervals use a standard error that takes the rollouts of a task as dependent.
const (
	IntervalWilson       IntervalMethod = "wilson"
	IntervalClustered    IntervalMethod = "clustered"
	IntervalWilsonByTask IntervalMethod = "wilson_by_task" // one trial for each task
)

// IterationFailures are the failure modes of one iteration, in the layout of table 4: resolved and
// submitted among all done trajectories, each mode among the unresolved ones of its partition.
type IterationFailures struct {
	IterationID ID            `json:"iteration_id" doc:"The iteration."`
	Kind        IterationKind `json:"kind" doc:"The iteration's kind."`
	Number      int           `json:"number" doc:"The iteration's number."`
	StudentID   ID            `json:"student_id" doc:"The student."`
	Tasks       int           `json:"tasks" doc:"Tasks of the done trajectories."`
	Done        int           `json:"done" doc:"Done trajectories. Failed and cancelled ones have no mode."`
	// Unverified, Cut and Unclassified are done trajectories that no mode counts.
	Unverified   int            `json:"unverified" doc:"Done trajectories with a submission and without a verdict, which have no mode."`
	Cut          int            `json:"cut" doc:"Done trajectories whose rollout the label rule ended: no share below counts them."`
	Unclassified int            `json:"unclassified" doc:"Done trajectories whose mode was not computed yet."`
	Resolved     Proportion     `json:"resolved" doc:"Resolved trajectories among those that are submitted with a verdict or not submitted."`
	Submitted    Proportion     `json:"submitted" doc:"Trajectories with a valid submission among all done ones but those that the label rule ended."`
	Unresolved   []FailureCount `json:"unresolved" nullable:"false" doc:"Modes of submitted and unresolved trajectories, among these."`
	NoSubmission []FailureCount `json:"no_submission" nullable:"false" doc:"Modes of trajectories without a valid submission, among these."`
	ToolUseError Proportion     `json:"tool_use_error" doc:"Unresolved trajectories with a tool-use error among all unresolved ones, without those that are not to be verified. It is in neither partition."`
}

// FailureReport are the failure modes of a run by iteration.
type FailureReport struct {
	RunID      ID                  `json:"run_id" doc:"The run."`
	Rules      int                 `json:"rules" doc:"Version of the rules of the modes."`
	Iterations []IterationFailures `json:"iterations" nullable:"false" doc:"The iterations in order of creation."`
	Judges     []JudgedFailures    `json:"judges" nullable:"false" doc:"Judged beside computed modes, by judge and prompt; empty without judgements."`
}

// FailureTally counts the done trajectories of one task in an iteration.
type FailureTally struct {
	IterationID  ID
	TaskID       ID
	Submitted    bool
	Resolved     *bool // nil without a verdict
	Unverified   bool  // not to be verified
	Cut          bool  // the label rule ended the rollouts
	Mode         FailureMode
	ToolUseError bool
	Classified   bool // by the current rules, for the current verdict
	Count        int
}

// FailureModeStore reads failure modes.
type FailureModeStore interface {
	// FindFailure returns what the rules found in a trajectory. CodeNotFound before it was computed.
	FindFailure(ctx context.Context, trajectory ID) (FailureFinding, error)
	// ListFailureTallies counts a run's done trajectories by iteration, task and mode.
	ListFailureTallies(ctx context.Context, run ID) ([]FailureTally, error)
	// ListComparisons counts the student turns of a run's done trajectories by iteration, task, tools
	// and phases.
	ListComparisons(ctx context.Context, run ID) ([]ComparisonTally, error)
}
