package relabel

import (
	"context"
	"time"
)

// TrajectoryState is a state in the life cycle of a trajectory; see CanBecome.
type TrajectoryState string

// The states of a trajectory. Done, Failed and Cancelled are terminal.
const (
	Queued    TrajectoryState = "queued"
	Running   TrajectoryState = "running"
	Labelling TrajectoryState = "labelling" // rollout ended, waiting for late labels
	Verifying TrajectoryState = "verifying"
	Done      TrajectoryState = "done"
	Failed    TrajectoryState = "failed"
	Cancelled TrajectoryState = "cancelled"
)

// TrajectoryStates lists every state in the order of the life cycle.
var TrajectoryStates = []TrajectoryState{Queued, Running, Labelling, Verifying, Done, Failed, Cancelled}

// successors is the state machine. A worker that stops releases its trajectory to Queued; if
// the rollout had ended, the next claim moves it to Labelling. A retry queues a failed one.
var successors = map[TrajectoryState][]TrajectoryState{
	Queued:    {Running, Labelling, Cancelled},
	Running:   {Labelling, Queued, Failed, Cancelled},
	Labelling: {Verifying, Queued, Failed, Cancelled},
	Verifying: {Done, Queued, Failed, Cancelled},
	Failed:    {Queued},
}

// CanBecome reports whether the state machine allows the step from s to next.
func (s TrajectoryState) CanBecome(next TrajectoryState) bool {
	for _, n := range successors[s] {
		if n == next {
			return true
		}
	}
	return false
}

// Terminal reports whether s is final unless a user retries a failed trajectory.
func (s TrajectoryState) Terminal() bool { return s == Done || s == Failed || s == Cancelled }

// EndReason says why a rollout ended.
type EndReason string

// The ends of a rollout that lead on to verification.
const (
	EndFinish    EndReason = "finish"     // the finish action was executed
	EndMaxTurns  EndReason = "max_turns"  // Tmax turns were executed
	EndContext   EndReason = "context"    // the state no longer fits the context limit
	EndWallClock EndReason = "wall_clock" // the rollout's time was up
	EndNoCall    EndReason = "no_call"    // three actions in a row without a call
	EndDisk      EndReason = "disk"       // it exceeded the sandbox's disk limit
	// EndSandboxBroken: an action broke the sandbox, and broke a fresh one again after a replay of
	// the same turns, while the engine was healthy.
	EndSandboxBroken EndReason = "sandbox_broken"
	// EndTeacherTurns: the label rule teacher_turns:K ended it after K turns of the teacher. Nothing is
	// submitted and nothing verified.
	EndTeacherTurns EndReason = "teacher_turns"
	// EndPromptTooLong: the first prompt has more tokens than RunLimits.MaxPromptTokens, so the task was
	// skipped without a turn.
	EndPromptTooLong EndReason = "prompt_too_long"
)

// EndReasons lists every EndReason.
var EndReasons = []EndReason{EndFinish, EndMaxTurns, EndContext, EndWallClock, EndNoCall, EndDisk, EndSandboxBroken, EndTeacherTurns, EndPromptTooLong}

// Cut reports whether the rollout was ended or skipped on purpose, by its iteration's label rule or the
// limit of prompts: it has no verdict and is in no figure of results.
func (r EndReason) Cut() bool { return r == EndTeacherTurns || r == EndPromptTooLong }

// FailureReason says why a trajectory failed. The agent causes none of them.
type FailureReason string

// The failures of a trajectory.
const (
	FailEnvironment  FailureReason = "environment"   // the sandbox or its engine
	FailImageMissing FailureReason = "image_missing" // the task's image is not available
	FailEndpoint     FailureReason = "endpoint"      // the executor's endpoint, after its retries
	FailVerifier     FailureReason = "verifier"      // the verifier's infrastructure; never reward 0
	FailSecret       FailureReason = "secret"        // a policy's secret is missing
	FailInternal     FailureReason = "internal"      // a bug
)

// Trajectory is one rollout τ of one task in one iteration.
type Trajectory struct {
	ID          ID              `json:"id" doc:"Its id."`
	RunID       ID              `json:"run_id" doc:"The run."`
	IterationID ID              `json:"iteration_id" doc:"The iteration."`
	TaskID      ID              `json:"task_id" doc:"The task."`
	InstanceID  string          `json:"instance_id" doc:"The task's name."`
	Iteration   int             `json:"iteration" doc:"Number i of the iteration."`
	Kind        IterationKind   `json:"kind" doc:"The iteration's kind: collect, evaluate or sample."`
	Generation  int             `json:"generation" doc:"Which rollout of its task it is, from 0."`
	State       TrajectoryState `json:"state" doc:"queued, running, labelling, verifying, done, failed or cancelled."`
	Attempt     int             `json:"attempt" doc:"The current attempt; 0 before the first."`
	Executors   Executors       `json:"executors" doc:"b1…bT as drawn, one letter per turn up to Tmax: T teacher, s student."`
	Kappa       *int            `json:"kappa,omitempty" doc:"κ, the length of the student's prefix in turns, of an aggrevate round."`
	SkipVerify  bool            `json:"skip_verify,omitempty" doc:"It is not verified when it ends; relabel run verify can do so later."`
	Turns       int             `json:"turns" doc:"Committed turns."`
	// Trail is the attempt that holds the turns: the current one, or an earlier one while the
	// trajectory is queued or that attempt is replayed.
	Trail             int           `json:"-"`
	EndReason         EndReason     `json:"end_reason,omitempty" doc:"Why the rollout ended: finish, max_turns, context, wall_clock, no_call, disk, sandbox_broken, teacher_turns or prompt_too_long (its label rule ended it, or its first prompt is too long and it was skipped: no submission and no verdict)."`
	Failure           FailureReason `json:"failure,omitempty" doc:"Why it failed: environment, image_missing, endpoint, verifier, secret or internal. The agent causes none of them."`
	FailureDetail     string        `json:"failure_detail,omitempty" doc:"Details of the failure."`
	Submitted         *bool         `json:"submitted,omitempty" doc:"Whether there is a valid submission: a finish action and a patch that applies; of a task in a terminal, a finish action. Absent before the end."`
	Passed            *bool         `json:"passed,omitempty" doc:"Whether the patch passes the tests, submitted or not; of a task in a terminal, whether its reward is 1; absent without a verdict."`
	Resolved          *bool         `json:"resolved,omitempty" doc:"Submitted and passed; absent without a verdict."`
	Protections       *int          `json:"protections,omitempty" doc:"Version of the verifier's protections at the verdict; 0: before versions were recorded; absent without a verdict."`
	Score             *float64      `json:"score,omitempty" doc:"nDCG@k of its ranked answer, from 0 to 1, 0 without a valid one, or the reward of a task in a terminal; absent before the verdict and for a task to repair."`
	Hits              *int          `json:"hits,omitempty" doc:"Gold functions that its answer names, at any rank, or gold files for a task without gold functions; absent before the verdict and for other kinds of task."`
	Verdict           VerdictKind   `json:"verdict" doc:"Result of the tests, submitted or not: passed, failed, error (the infrastructure failed, not the agent; the trajectory gets no verdict), scored (its ranked answer has a score), unverified (done, but its iteration verifies only others), cut (done, but its label rule ended the rollout before a submission, or it was skipped because its first prompt is too long) or none (not yet, or cancelled)."`
	VerdictReason     VerdictReason `json:"verdict_reason,omitempty" doc:"Why it passed or not: passed, tests (one did not pass), tests_timed_out, tests_did_not_finish, tests_tampered, empty_patch, patch_does_not_apply or patch_unsafe; of an answer to localise, scored or no_answer; of a task in a terminal, passed, reward, no_reward, tests_timed_out or tests_tampered; absent without a verdict."`
	FailureMode       FailureMode   `json:"failure_mode,omitempty" doc:"Primary failure mode if it is not resolved: loop, overflow, budget, no_edit or other without a valid submission; syntax_or_runtime, wrong_file or wrong_solution with one. Absent until it is computed, some seconds after the end, and without a verdict."`
	ToolUseError      *bool         `json:"tool_use_error,omitempty" doc:"Whether a call was malformed, named an unknown tool or was refused by the tool; absent until it is computed."`
	LabelsReceived    int           `json:"labels_received" doc:"Turns with a received label."`
	LabelsPending     int           `json:"labels_pending" doc:"Turns with a pending label."`
	LabelsMissing     int           `json:"labels_missing" doc:"Turns whose label is missing."`
	LabelsNotSelected int           `json:"labels_not_selected" doc:"Turns whose label was not requested because the label rule did not select the state."`
	// Tokens are the tokens of prompts and answers of the executed actions and the labels. Those
	// of failed tries are only in the calls.
	Tokens       int    `json:"tokens" doc:"Tokens of the executed actions and the labels, prompts and answers together."`
	Ribbon       Ribbon `json:"ribbon" doc:"One letter per committed turn: T if the teacher executed it; for a student's turn, a if the action agrees with the label, d if it differs, s without a label to compare with."`
	FirstDiffers *int   `json:"first_differs,omitempty" doc:"The first turn whose label differs from the student's action; absent if none does."`
	// EnvironmentFailures counts attempts that ended because a rollout's or the verifier's
	// sandbox broke; RunLimits.EnvironmentRetries bounds them.
	EnvironmentFailures int        `json:"environment_failures" doc:"Attempts that ended because a rollout's or the verifier's sandbox broke."`
	Agreement           *float64   `json:"agreement,omitempty" doc:"Share, 0 to 1, of student turns whose action equals the label; absent without any."`
	Flags               []string   `json:"flags" doc:"The flags of its reviews, each once."`
	CreatedAt           time.Time  `json:"created_at" doc:"When it was created."`
	StartedAt           *time.Time `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt             *time.Time `json:"ended_at,omitempty" doc:"When it ended."`
}

// Ribbon has one letter per committed turn: 'T' if the teacher executed it; for a student's
// turn, 'a' if the action agrees with the label, 'd' if it differs, 's' without a label to
// compare with.
type Ribbon string

// VerdictKind classifies a trajectory's verdict. It says nothing about the submission.
type VerdictKind string

// The kinds.
const (
	VerdictPassed VerdictKind = "passed"
	VerdictFailed VerdictKind = "failed"
	VerdictError  VerdictKind = "error" // the infrastructure failed, not the agent; the trajectory gets no verdict
	VerdictNone   VerdictKind = "none"  // not yet, or cancelled
	// VerdictUnverified: done, and not to be verified (SkipVerify).
	VerdictUnverified VerdictKind = "unverified"
	// VerdictCut: done, and its rollout was ended or skipped on purpose (EndReason.Cut).
	VerdictCut VerdictKind = "cut"
	// VerdictScore: a ranked answer to localise, or its absence, has a score.
	VerdictScore VerdictKind = "scored"
)

// Executors is b1…bT as text, one byte per turn: 'T' if the teacher executes it (bt=1), 's' if
// the student does (bt=0). Its length is Tmax.
type Executors string

// At returns the executor of turn t, from 1.
func (e Executors) At(t int) Role {
	if e[t-1] == 'T' {
		return Teacher
	}
	return Student
}

// Fence guards every write to a running trajectory: once the trajectory has another attempt
// or owner, the write changes nothing and fails with CodeLeaseLost.
type Fence struct {
	TrajectoryID ID
	Attempt      int
	Owner        string
}

// Claim is a trajectory that a worker owns, with everything needed to roll it out.
type Claim struct {
	Fence
	Trajectory Trajectory
	Iteration  Iteration
	Run        Run // in an evaluation with the limits of its benchmark
	Task       Task
	Teacher    Policy
	Student    Policy
	// Turns are the committed turns of earlier attempts, in order, without prompt ids. The worker
	// replays them while Trajectory.Trail is an earlier attempt.
	Turns []Turn
	// Broken is the action that broke the sandbox of an earlier attempt at the turn after Turns;
	// nil if there is none. The worker executes it again before it calls any model.
	Broken *BrokenTurn
	// BrokeAt are the turns at which sandboxes of earlier attempts broke since the rollout began,
	// by attempt: during the turn's action, or after it and before the next.
	BrokeAt []int
	// Breaks counts the earlier attempts whose sandbox broke at an action while its engine was
	// healthy, including attempts that ended by a divergence.
	Breaks int
	// Ending is the ending of a rollout that has already ended; else nil.
	Ending *Ending
	// Waited is the wait of earlier attempts for an endpoint that was down.
	Waited Wait
	// Abandoned names containers that earlier attempts left in the engine.
	Abandoned []string
}

// Ending is the result of a rollout.
type Ending struct {
	Reason    EndReason
	Patch     []byte // against base_commit, or the answer's ranked list; empty means no submission
	Submitted bool   // a finish action and a non-empty patch that applies, or list (a valid submission)
}

// BrokenTurn is the action during which the sandbox broke, or the last one before it broke.
type BrokenTurn struct {
	T        int // its turn
	Executor Role
	Action   Action
}

// Attempt is one try at a trajectory, by one worker in one sandbox.
type Attempt struct {
	Number     int        `json:"number" doc:"The attempt's number, from 1."`
	Worker     string     `json:"worker" doc:"The worker process that ran it."`
	DockerHost string     `json:"docker_host" doc:"The container engine."`
	Container  string     `json:"container" doc:"The sandbox's container id."`
	StartedAt  time.Time  `json:"started_at" doc:"When it was claimed."`
	EndedAt    *time.Time `json:"ended_at,omitempty" doc:"When it ended."`
	Outcome    string     `json:"outcome,omitempty" doc:"done, failed, released, lost, environment (its sandbox broke), diverged (a replay reached another state) or cancelled."`
	Reason     string     `json:"reason,omitempty" doc:"Why it was not done; absent if it was."`
	// ContinuedBy is the attempt that took this one's turns over, after a replay.
	ContinuedBy *int `json:"continued_by,omitempty" doc:"The attempt that replayed this one and took its turns over."`
}

// TrajectoryStore reads trajectories with their turns.
type TrajectoryStore interface {
	FindTrajectory(ctx context.Context, id ID) (Trajectory, error)
	ListTrajectories(ctx context.Context, f TrajectoryFilter, sort TrajectorySort, p Page) (TrajectoryPage, error)
	// SearchTexts searches the texts of the matching trajectories for a few seconds. CodeBusy if
	// there are too many concurrent searches.
	SearchTexts(ctx context.Context, f TrajectoryFilter, sort TrajectorySort, ask TextSearch) (TextPage, error)
	ListAttempts(ctx context.Context, trajectory ID) ([]Attempt, error)
	// ListTurns returns the current attempt's turns t with from ≤ t < from+limit, in
	// order, with executed action, label and observations, without prompt ids.
	ListTurns(ctx context.Context, trajectory ID, from, limit int) ([]Turn, error)
	// ListPromptedTurns returns turns as ListTurns does, with the prompt ids of actions and labels.
	ListPromptedTurns(ctx context.Context, trajectory ID, from, limit int) ([]Turn, error)
	// FindState returns turns 1 to t of an attempt, the last with its actions' prompt ids.
	// CodeNotFound if the attempt has no turn t.
	FindState(ctx context.Context, trajectory ID, attempt, t int) ([]Turn, error)
	// FindTime returns the time report of a trajectory, ListTimes those of a run's iterations in
	// the order of their creation.
	FindTime(ctx context.Context, trajectory ID) (TimeReport, error)
	ListTimes(ctx context.Context, run ID) ([]IterationTime, error)
	FindPatch(ctx context.Context, trajectory ID) ([]byte, error)
	FindVerdict(ctx context.Context, trajectory ID) (Verdict, error)
	ListVerdicts(ctx context.Context, trajectory ID) ([]Verdict, error)
	ListCalls(ctx context.Context, trajectory ID) ([]Call, error)
}

// Reward returns the trajectory's reward, between 0 and 1: its score if it has one; else 1 if it is
// resolved; 0 if it is not, or was not submitted. nil if it is unknown: the trajectory is not done (a failure of the
// infrastructure is never reward 0), its label rule ended the rollout, it is not verified (the
// verdicts that others of its group have do not depend on the outcome), or it was submitted and has
// no verdict.
func (t Trajectory) Reward() *float64 {
	switch {
	case t.State != Done, t.EndReason.Cut(), t.SkipVerify && t.Passed == nil && t.Score == nil:
		return nil
	case t.Score != nil:
		return t.Score
	case t.Submitted != nil && !*t.Submitted:
		return new(0.0)
	case t.Resolved == nil:
		return nil
	case *t.Resolved:
		return new(1.0)
	}
	return new(0.0)
}
