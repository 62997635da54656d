package relabel

import (
	"context"
	"time"
)

// JudgingState is the state of a judging.
type JudgingState string

// The states of a judging. A new request queues an ended one again if it has no judgement.
const (
	JudgingQueued    JudgingState = "queued"
	JudgingRunning   JudgingState = "running"
	JudgingDone      JudgingState = "done"   // with an outcome
	JudgingFailed    JudgingState = "failed" // the policy cannot judge at all
	JudgingCancelled JudgingState = "cancelled"
)

// JudgeOutcome says what a judge's answers were.
type JudgeOutcome string

// The outcomes of a judging that is done.
const (
	Judged       JudgeOutcome = "judged"  // an answer has the required form
	JudgeInvalid JudgeOutcome = "invalid" // none of MostJudgeAnswers answers has
	JudgeMissing JudgeOutcome = "missing" // the policy did not answer, or the trajectory does not fit its context
)

// MostJudgeAnswers bounds the answers that a judge is asked for about one trajectory, until one is valid.
const MostJudgeAnswers = 3

// JudgePrompt is the instruction of a judge. It is stored under its hash and never changes.
type JudgePrompt struct {
	Hash    string `json:"hash" doc:"SHA-256 of version and text, in hexadecimal digits."`
	Version int    `json:"version" doc:"Version of the instruction and of the form in which trajectories are shown."`
	Gold    bool   `json:"gold" doc:"Whether the judge sees the gold patch of a task that has one."`
	Text    string `json:"text" doc:"The system message."`
}

// Judgement is what a judge said of a trajectory, beside the computed failure mode, which it never replaces.
type Judgement struct {
	Outcome      JudgeOutcome `json:"outcome,omitempty" doc:"judged; invalid: no answer had the required form; missing: no answer. Absent before the end."`
	Reason       string       `json:"reason,omitempty" doc:"Why the last answer is invalid or missing."`
	Mode         FailureMode  `json:"mode,omitempty" doc:"Primary failure mode according to the judge."`
	ToolUseError *bool        `json:"tool_use_error,omitempty" doc:"Whether the judge saw a tool-use error."`
	Explanation  string       `json:"explanation,omitempty" doc:"The judge's explanation."`
	Turns        []int        `json:"turns" nullable:"false" doc:"Turns that the judge cited."`
	// What the judge did not see of the trajectory, because it exceeds the context.
	HiddenTurns    int  `json:"hidden_turns" doc:"Turns from the middle that were not shown to the judge."`
	ShortenedTexts int  `json:"shortened_texts" doc:"Texts of which only beginning and end were shown."`
	GoldShown      bool `json:"gold_shown" doc:"Whether the judge saw the task's gold patch."`
	Answers        int  `json:"answers" doc:"Answers of the judge, invalid ones included."`
	// Answer is the last one.
	Answer string `json:"answer,omitempty" doc:"Text of the last answer; absent in lists."`
}

// Judging has a policy assign a failure mode to one done and unresolved trajectory. There is one per
// trajectory, policy version and prompt.
type Judging struct {
	ID           ID           `json:"id" doc:"Its id."`
	RunID        ID           `json:"run_id" doc:"The run."`
	IterationID  ID           `json:"iteration_id" doc:"The iteration."`
	TrajectoryID ID           `json:"trajectory_id" doc:"The trajectory that is judged."`
	InstanceID   string       `json:"instance_id" doc:"The task's name."`
	PolicyID     ID           `json:"policy_id" doc:"The judge."`
	Prompt       string       `json:"prompt" doc:"Hash of the prompt."`
	State        JudgingState `json:"state" doc:"queued, running, done, failed (the policy cannot judge at all) or cancelled."`
	Failure      string       `json:"failure,omitempty" doc:"Why it failed."`
	Priority     int          `json:"priority" doc:"Judgings with the highest priority run first."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was first requested."`
	StartedAt    *time.Time   `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it ended."`
	Judgement
}

// JudgingFilter narrows a list of judgings. Zero fields do not narrow.
type JudgingFilter struct {
	RunID        *ID
	IterationID  *ID
	TrajectoryID *ID
	PolicyID     *ID
	State        JudgingState
	Outcome      JudgeOutcome
}

// JudgeSelection selects done and unresolved trajectories of a run, submitted or not.
type JudgeSelection struct {
	RunID       ID
	IterationID *ID           // nil: all iterations
	Iteration   int           // only iterations of this number, of any kind; 0: of all
	Modes       []FailureMode // only with one of these computed modes; empty: with any, or none yet
	Sample      int           // only this many of them, drawn with Seed; 0: all
	Seed        int64
}

// JudgeEstimate is the work of judging a selection: trajectories without a judgement.
type JudgeEstimate struct {
	Prompt          string `json:"prompt" doc:"Hash of the prompt that the judge would get."`
	Trajectories    int    `json:"trajectories" doc:"Trajectories to be judged."`
	MostCalls       int    `json:"most_calls" doc:"Calls if every trajectory needs all answers that a judge may give; usually one is enough."`
	Tokens          int64  `json:"tokens" doc:"Estimated tokens of the prompts, one for each trajectory: a quarter of the bytes, at most the judge's context."`
	AnswerTokens    int64  `json:"answer_tokens" doc:"Tokens of the answers, with 400 for each. A judge that reasons needs more."`
	LeastCostMicros *int64 `json:"least_cost_micros,omitempty" doc:"Cost of one call for each trajectory, in millionths of the currency; absent without a price."`
	MostCostMicros  *int64 `json:"most_cost_micros,omitempty" doc:"Cost of most_calls."`
	Currency        string `json:"currency,omitempty" doc:"Currency of the policy's price."`
}

// JudgeProgress sums an iteration's judgings by one policy with one prompt.
type JudgeProgress struct {
	IterationID ID                   `json:"iteration_id" doc:"The iteration."`
	Kind        IterationKind        `json:"kind" doc:"Its kind."`
	Number      int                  `json:"number" doc:"Its number among those of its kind."`
	PolicyID    ID                   `json:"policy_id" doc:"The judge."`
	Prompt      string               `json:"prompt" doc:"Hash of the prompt."`
	Judgings    map[JudgingState]int `json:"judgings" doc:"Judgings by state; states without any are absent."`
	Outcomes    map[JudgeOutcome]int `json:"outcomes" doc:"Judgings that are done, by outcome; outcomes without any are absent."`
	Reasons     []ReasonCount        `json:"reasons,omitempty" doc:"Why judgings are invalid or missing, or failed: at most 10, the most frequent first."`
}

// Add adds q's counts to p's.
func (p *JudgeProgress) Add(q JudgeProgress) {
	for state, n := range q.Judgings {
		p.Judgings[state] += n
	}
	for outcome, n := range q.Outcomes {
		p.Outcomes[outcome] += n
	}
	p.Reasons = AddReasons(p.Reasons, q.Reasons)
}

// DefaultJudgeContext is the assumed context of a judge that states none, in tokens.
const DefaultJudgeContext = 65536

// JudgeContext is the number of tokens that a judge's prompt and answer may have together.
func JudgeContext(p Policy) int {
	if n := p.Limits.ContextTokens; n > 0 {
		return n
	}
	return DefaultJudgeContext
}

// JudgeFence guards every write to a judging; see Fence.
type JudgeFence struct {
	JudgingID ID
	Claim     int // number of the claim
	Owner     string
}

// JudgeClaim is a judging that a worker owns, with everything needed to do it.
type JudgeClaim struct {
	JudgeFence
	Policy   Policy
	Prompt   JudgePrompt
	Run      Run
	Task     Task
	Evidence FailureEvidence
	Turns    []Turn
}

// JudgeTally counts the judgings of one task in an iteration whose trajectories still have a computed
// mode.
type JudgeTally struct {
	IterationID    ID
	TaskID         ID
	PolicyID       ID
	Prompt         string // hash
	PromptVersion  int
	Gold           bool // of the prompt
	Submitted      bool
	Mode           FailureMode // computed
	ToolUseError   bool        // computed
	Outcome        JudgeOutcome
	JudgedMode     FailureMode // "" unless Outcome is Judged
	JudgedToolUse  bool
	Count          int
	HiddenTurns    int // summed over the judgings
	ShortenedTexts int // summed over the judgings
}

// JudgingStore stores judgings with their prompts.
type JudgingStore interface {
	// StartJudging queues the judgings of the selected trajectories by a policy with a prompt. A repeated
	// request judges again what has no judgement. CodeConflict if no selected trajectory is done and
	// unresolved.
	StartJudging(ctx context.Context, sel JudgeSelection, policy ID, prompt JudgePrompt, priority int) error
	// EstimateJudging sums up what StartJudging would queue.
	EstimateJudging(ctx context.Context, sel JudgeSelection, policy Policy, prompt JudgePrompt) (JudgeEstimate, error)
	// JudgeProgress sums the run's judgings by iteration, policy and prompt. With Modes or Sample they are
	// those of the trajectories that StartJudging would select now.
	JudgeProgress(ctx context.Context, sel JudgeSelection) ([]JudgeProgress, error)
	// FindJudging returns a judging with the last answer.
	FindJudging(ctx context.Context, id ID) (Judging, error)
	// ListJudgings lists judgings without the last answers.
	ListJudgings(ctx context.Context, f JudgingFilter, p Page) (list []Judging, next string, err error)
	// CancelJudgings cancels the judgings of the selected iterations that have not ended, of one policy
	// or (nil) of all. It ignores Modes, Sample and Seed.
	CancelJudgings(ctx context.Context, sel JudgeSelection, policy *ID) (cancelled int, err error)
	// FindJudgePrompt returns a stored prompt; CodeNotFound if there is none with this hash.
	FindJudgePrompt(ctx context.Context, hash string) (JudgePrompt, error)
	// ListJudgeTallies counts a run's judgings that are done.
	ListJudgeTallies(ctx context.Context, run ID) ([]JudgeTally, error)
}
