package relabel

import (
	"context"
	"math"
	"time"
)

// MaxTopK is the largest number of most probable tokens that a scoring keeps at each token. It is the
// largest number that vLLM returns without its flag --max-logprobs.
const MaxTopK = 20

// ScoringState is the state of a scoring.
type ScoringState string

// The states of a scoring. A new request queues an ended one again if it lacks scores.
const (
	ScoringQueued    ScoringState = "queued"
	ScoringRunning   ScoringState = "running"
	ScoringDone      ScoringState = "done"   // every turn has its score, or a reason why it has none
	ScoringFailed    ScoringState = "failed" // the policy cannot score at all
	ScoringCancelled ScoringState = "cancelled"
)

// Score is the log-probability of each token that a student sampled at one turn, under a policy: the
// student itself or a teacher with the same tokenizer. Every policy is scored at temperature 1 on its whole
// vocabulary, whatever its sampling was, so that the scores of two policies can be compared. The
// log-probabilities under which the tokens were sampled are apart, in Action.Logprobs.
type Score struct {
	T        int    `json:"t" doc:"The turn, from 1."`
	PolicyID ID     `json:"policy_id" doc:"The policy that scored."`
	Reason   string `json:"reason,omitempty" doc:"Why the turn has no score; absent if it has one."`
	// Logprobs are natural logarithms, aligned with TokenIDs of the executed action; nil if the score is
	// missing.
	Logprobs []float32 `json:"logprobs,omitempty" doc:"Natural logarithms of the tokens' probabilities at temperature 1, aligned with token_ids of the executed action."`
	TopK     int       `json:"top_k,omitempty" doc:"Most probable tokens that are stored at each token; absent: none."`
	// TopIDs and TopLogprobs are the most probable tokens in place of token i, the most probable one
	// first: those from i·TopK to (i+1)·TopK.
	TopIDs      []int32   `json:"top_ids,omitempty" doc:"Ids of the top_k most probable tokens at each token, one token after the other, the most probable one first."`
	TopLogprobs []float32 `json:"top_logprobs,omitempty" doc:"Their log-probabilities, aligned with top_ids."`
}

// Top returns the ids and log-probabilities of the TopK most probable tokens in place of token i.
func (s Score) Top(i int) (ids []int32, logprobs []float32) {
	return s.TopIDs[i*s.TopK : (i+1)*s.TopK], s.TopLogprobs[i*s.TopK : (i+1)*s.TopK]
}

// TailMass is the probability of all tokens but the TopK most probable ones in place of token i; 1 without
// any. Rounding of the log-probabilities never makes it negative.
func (s Score) TailMass(i int) float64 {
	_, logprobs := s.Top(i)
	mass := 1.0
	for _, l := range logprobs {
		mass -= math.Exp(float64(l))
	}
	return max(mass, 0)
}

// Scoring computes a policy's scores of the student's turns of one done trajectory. There is one per
// trajectory and policy version.
type Scoring struct {
	ID           ID           `json:"id" doc:"Its id."`
	RunID        ID           `json:"run_id" doc:"The run."`
	IterationID  ID           `json:"iteration_id" doc:"The iteration."`
	TrajectoryID ID           `json:"trajectory_id" doc:"The trajectory whose tokens are scored."`
	InstanceID   string       `json:"instance_id" doc:"The task's name."`
	PolicyID     ID           `json:"policy_id" doc:"The policy that scores."`
	TopK         int          `json:"top_k" doc:"Most probable tokens that are stored at each token."`
	State        ScoringState `json:"state" doc:"queued, running, done, failed (the policy cannot score at all) or cancelled."`
	Failure      string       `json:"failure,omitempty" doc:"Why it failed."`
	Priority     int          `json:"priority" doc:"Scorings with the highest priority run first."`
	Turns        int          `json:"turns" doc:"Turns of the student; received, missing and pending add up to it."`
	Received     int          `json:"received" doc:"Turns with a score."`
	Missing      int          `json:"missing" doc:"Turns without one, for a reason that their score states."`
	Pending      int          `json:"pending" doc:"Turns to be scored."`
	Tokens       int64        `json:"tokens" doc:"Tokens with a score."`
	CreatedAt    time.Time    `json:"created_at" doc:"When it was first requested."`
	StartedAt    *time.Time   `json:"started_at,omitempty" doc:"When it was first claimed."`
	EndedAt      *time.Time   `json:"ended_at,omitempty" doc:"When it ended."`
}

// ScoringFilter narrows a list of scorings. Zero fields do not narrow.
type ScoringFilter struct {
	RunID        *ID
	IterationID  *ID
	TrajectoryID *ID
	PolicyID     *ID
	State        ScoringState
}

// ScoreSelection selects the done trajectories of a run, or of one of its iterations, that have turns of a
// student.
type ScoreSelection struct {
	RunID       ID
	IterationID *ID // nil: all iterations
	Iteration   int // only iterations of this number, of any kind; 0: of all
}

// ScoreProgress sums an iteration's scorings by one policy.
type ScoreProgress struct {
	IterationID ID                   `json:"iteration_id" doc:"The iteration."`
	Kind        IterationKind        `json:"kind" doc:"Its kind."`
	Number      int                  `json:"number" doc:"Its number among those of its kind."`
	PolicyID    ID                   `json:"policy_id" doc:"The policy that scores."`
	Scorings    map[ScoringState]int `json:"scorings" doc:"Scorings by state; states without any are absent."`
	Turns       int                  `json:"turns" doc:"Turns of the student; received, missing and pending add up to it."`
	Received    int                  `json:"received" doc:"Turns with a score."`
	Missing     int                  `json:"missing" doc:"Turns without one."`
	Pending     int                  `json:"pending" doc:"Turns to be scored."`
	Tokens      int64                `json:"tokens" doc:"Tokens with a score."`
	Reasons     []ReasonCount        `json:"reasons,omitempty" doc:"Why turns are missing, and why scorings failed (counted by their pending turns): at most 10, the most frequent first."`
}

// Add adds q's counts to p's.
func (p *ScoreProgress) Add(q ScoreProgress) {
	for state, n := range q.Scorings {
		p.Scorings[state] += n
	}
	p.Turns += q.Turns
	p.Received += q.Received
	p.Missing += q.Missing
	p.Reasons = AddReasons(p.Reasons, q.Reasons)
	p.Pending += q.Pending
	p.Tokens += q.Tokens
}

// ScoreEstimate is the work that a scoring of a selection would be: turns that the policy has not scored.
type ScoreEstimate struct {
	Trajectories int      `json:"trajectories" doc:"Trajectories with turns to be scored."`
	Turns        int      `json:"turns" doc:"Their turns of the student that have no score yet."`
	WithoutIDs   int      `json:"without_ids" doc:"Turns among these that cannot be scored, because the student's server gave no ids of the prompt or of the sampled tokens."`
	Skipped      []string `json:"skipped,omitempty" doc:"Why turns of some students of the selection cannot be scored. All counts, tokens and costs include these turns."`
	Tokens       int64    `json:"tokens" doc:"Tokens to be scored."`
	Bytes        int64    `json:"bytes" doc:"Bytes that their scores take in the database: 4 for each token, and 8 more for each of its top_k."`
	// A call scores all turns of a text that only grows. How many texts there are is known only with
	// their ids.
	LeastPrompt     int64  `json:"least_prompt_tokens" doc:"Tokens to be sent if each trajectory is one growing text."`
	MostPrompt      int64  `json:"most_prompt_tokens" doc:"Tokens to be sent if no turn's text continues another's."`
	LeastCostMicros *int64 `json:"least_cost_micros,omitempty" doc:"Cost of the former, in millionths of the currency; absent without a price."`
	MostCostMicros  *int64 `json:"most_cost_micros,omitempty" doc:"Cost of the latter."`
	Currency        string `json:"currency,omitempty" doc:"Currency of the policy's price."`
}

// ScoreFence guards every write to a scoring; see Fence.
type ScoreFence struct {
	ScoringID ID
	Claim     int // number of the claim
	Owner     string
}

// ScoreTurn is a student's turn as it is scored: the ids that its server reported.
type ScoreTurn struct {
	T         int
	PolicyID  ID      // the student, which executed it
	PromptIDs []int32 // ids of the state; nil if the server gave none
	TokenIDs  []int32 // ids of the executed action; nil if the server gave none
}

// ScoreClaim is a scoring that a worker owns, with everything needed to do it.
type ScoreClaim struct {
	ScoreFence
	Policy     Policy
	Trajectory Trajectory
	TopK       int
	Students   []Policy    // the policies that executed the pending turns
	Pending    []ScoreTurn // the turns that are still to be scored, in order
}

// ScoreRequest asks a policy for the log-probabilities of tokens after what precedes them.
type ScoreRequest struct {
	IDs   []int32     // ids of the whole text: the last span ends with them
	Spans []ScoreSpan // what is scored of it, in order; it has at least one
	TopK  int         // most probable tokens that are asked for at each token
	// What the call is for; recorded with it.
	TrajectoryID ID
	Attempt      int
	T            int
}

// ScoreSpan are the tokens of one turn in a ScoreRequest: IDs[Start:Start+Length]. A policy has no
// distribution for the first token of a text, so Start is at least 1.
type ScoreSpan struct{ T, Start, Length int }

// CheckScorer refuses, with CodeInvalid on policy, a policy whose kind of server returns no
// log-probabilities of given tokens.
func CheckScorer(p Policy) error {
	switch p.Server {
	case ServerVLLM, ServerSGLang:
		return nil
	}
	return Errorf(CodeInvalid, "%s cannot score: a server of kind %s returns the text of an answer, and no log-probabilities of given tokens; "+
		"vllm and sglang do. A teacher that only answers can label", p.Name, p.Server).On("policy")
}

// CheckScoredStudent refuses, with CodeInvalid on policy, a student whose tokens have no known meaning. A
// later version with a tokenizer does not change what this one sampled.
func CheckScoredStudent(student Policy) error {
	if student.TokenizerHash != "" {
		return nil
	}
	return Errorf(CodeInvalid, "the turns of the student %s@%d cannot be scored: this version names no registered tokenizer, and a new one does not change what it sampled. "+
		"Add a version with --tokenizer, and roll the same tasks out again with it (--again)", student.Name, student.Version).On("policy")
}

// CheckVocabularies refuses, with CodeInvalid on policy, a scorer whose tokenizer does not have the
// vocabulary hash of the student's (see tokenizer.Tokenizer.VocabularyHash): its model has another meaning
// for the student's ids.
func CheckVocabularies(scorer, student Policy, hash, studentHash string) error {
	if hash == studentHash {
		return nil
	}
	return Errorf(CodeInvalid, "%s cannot score the tokens of %s: their tokenizers have different vocabularies, with the hashes %s and %s",
		scorer.Name, student.Name, hash, studentHash).On("policy")
}

// ScoringStore stores scorings and scores.
type ScoringStore interface {
	// StartScoring queues the scorings of the selected trajectories by a policy. A repeated request
	// scores again what is missing. CodeConflict if no selected trajectory is done, or if one has scores
	// of this policy with another topK.
	StartScoring(ctx context.Context, sel ScoreSelection, policy ID, topK, priority int) error
	// ListScoredStudents lists the students whose turns StartScoring would have scored.
	ListScoredStudents(ctx context.Context, sel ScoreSelection) ([]Policy, error)
	// EstimateScoring sums up what StartScoring would queue, at most.
	EstimateScoring(ctx context.Context, sel ScoreSelection, policy Policy, topK int) (ScoreEstimate, error)
	// ScoreProgress sums the run's scorings by iteration and policy.
	ScoreProgress(ctx context.Context, sel ScoreSelection) ([]ScoreProgress, error)
	FindScoring(ctx context.Context, id ID) (Scoring, error)
	ListScorings(ctx context.Context, f ScoringFilter, p Page) (list []Scoring, next string, err error)
	// CancelScorings cancels the selected scorings that have not ended, of one policy or (nil) of all.
	CancelScorings(ctx context.Context, sel ScoreSelection, policy *ID) (cancelled int, err error)
	// ListScores returns a policy's scores of the trajectory's turns, missing ones included, in order.
	ListScores(ctx context.Context, trajectory, policy ID) ([]Score, error)
}
