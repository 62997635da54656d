package relabel

import (
	"errors"
	"sync/atomic"
	"time"
)

// finishLength is the finish reason of an answer that was cut.
const finishLength = "length"

// Action makes the action of a policy out of its answer. parse says how a message that
// is whole is understood.
func (c Completion) Action(policy ID, parse func(Message) ParseOutcome) Action {
	return Action{
		PolicyID: policy, Status: Received, Millis: c.Took.Milliseconds(),
		Raw: c.Raw, Said: c.Said, ReadAs: c.ReadAs, NotGiven: c.NotGiven, Message: c.Message,
		FinishReason: c.FinishReason, Refusal: c.Refusal,
		Parse:    c.outcome(parse),
		TokenIDs: c.TokenIDs, PromptTokenIDs: c.PromptTokenIDs, Logprobs: c.Logprobs,
		Usage: c.Usage, Model: c.Model, Fingerprint: c.Fingerprint,
	}
}

// outcome says how an answer is understood. One that was cut is not whole, whatever
// can be read in it.
func (c Completion) outcome(parse func(Message) ParseOutcome) ParseOutcome {
	switch {
	case c.FinishReason == finishLength:
		return CutByLength
	case c.Refusal != "" && len(c.Message.ToolCalls) == 0:
		return Refused
	}
	return parse(c.Message)
}

// MissingAction is the action that a policy could not be brought to give, with the
// reason in words that are safe to show. They begin with the error's code, and are that
// alone for a state that is too long.
func MissingAction(policy ID, err error) Action {
	reason := string(CodeOf(err))
	if CodeOf(err) != CodeContextOverflow {
		reason += ": " + Shown(err)
	}
	return Action{PolicyID: policy, Status: Missing, Reason: reason}
}

// Shown is an error's message without its cause, safe to show.
func Shown(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "an unforeseen failure; details are in the log"
}

// BatchState is where a batch of labels stands.
type BatchState string

// The states of a batch. What is submitted is recorded before anything is sent, and that
// it is being sent before it is.
const (
	BatchPrepared BatchState = "prepared" // its labels are chosen; nothing was sent but, perhaps, the file
	BatchSending  BatchState = "sending"  // it was sent, perhaps: to be settled by the endpoint's list
	BatchSent     BatchState = "sent"     // the endpoint has it under RemoteID
	BatchDone     BatchState = "done"     // its answers are in
	BatchFailed   BatchState = "failed"   // the endpoint refused it or gave it up
	// BatchCancelled is a batch whose labels nobody waits for any more.
	BatchCancelled BatchState = "cancelled"
)

// LabelBatch is a set of pending labels that goes to the teacher's batch endpoint.
type LabelBatch struct {
	ID          ID         `json:"id" doc:"Its id; the endpoint's metadata names it as relabel_batch."`
	IterationID ID         `json:"iteration_id" doc:"The iteration whose labels it asks for."`
	PolicyID    ID         `json:"policy_id" doc:"The teacher."`
	State       BatchState `json:"state" doc:"prepared, sending (the endpoint may have it), sent, done, failed or cancelled."`
	Round       int        `json:"round" doc:"From 1: what failed in a round is asked for again in the next."`
	RemoteFile  string     `json:"remote_file,omitempty" doc:"The endpoint's id of the file of requests."`
	RemoteID    string     `json:"remote_id,omitempty" doc:"The endpoint's id of the batch."`
	RemoteState string     `json:"remote_state,omitempty" doc:"What the endpoint said of it at the last look."`
	Detail      string     `json:"detail,omitempty" doc:"What went wrong."`
	Labels      int        `json:"labels" doc:"Labels in it."`
	Received    int        `json:"received" doc:"Labels received."`
	Missing     int        `json:"missing" doc:"Labels that were given up with it."`
	Returned    int        `json:"returned" doc:"Labels that failed in it and went on to the next round."`
	CreatedAt   time.Time  `json:"created_at" doc:"When its labels were gathered."`
	SentAt      *time.Time `json:"sent_at,omitempty" doc:"When the endpoint had it."`
	EndedAt     *time.Time `json:"ended_at,omitempty" doc:"When it was over."`
}

// BatchItem is one label of a batch.
type BatchItem struct {
	TrajectoryID ID
	Attempt      int
	T            int
	Size         *PromptSize // of the prompt, as its line was written; nil: no line was
}

// BatchFence is what every write of a batch carries; see Fence.
type BatchFence struct {
	BatchID ID
	Claim   int // counts how often it was claimed
	Owner   string
}

// BatchClaim is a batch that a worker owns. Items are those whose labels are pending.
type BatchClaim struct {
	BatchFence
	Batch  LabelBatch
	Run    Run
	Policy Policy
	Items  []BatchItem // by trajectory, then turn
}

// RemoteBatch is a batch as its endpoint knows it.
type RemoteBatch struct {
	ID         string
	Status     string // the endpoint's word: validating, in_progress, finalizing, completed, failed, expired, cancelling, cancelled
	OutputFile string // file of the answers; "" where there is none
	ErrorFile  string // file of the lines that failed; "" where there is none
	Problem    string // what the endpoint says is wrong with it, safe to show
}

// Over reports whether the endpoint works at the batch no longer.
func (b RemoteBatch) Over() bool {
	switch b.Status {
	case "completed", "failed", "expired", "cancelled":
		return true
	}
	return false
}

// BatchAnswer is what a batch brought for one line: a completion, or why there is none.
type BatchAnswer struct {
	CustomID   string
	Completion Completion
	Err        error // CodeContextOverflow, for which a retry cannot help, else CodeEndpoint
}

// Urgency says how soon the answer to a label's call is wanted. Raised, the label goes
// before others that wait for the same endpoint; calls whose action is executed go
// before both. It may be raised at any time, also while the call waits, from any
// goroutine. A nil Urgency is never raised.
type Urgency struct{ raised atomic.Bool }

// Raise says that somebody waits for the answer now, such as a trajectory whose rollout
// has ended. It may be called more than once.
func (u *Urgency) Raise() {
	if u != nil {
		u.raised.Store(true)
	}
}

// Raised reports whether Raise was called.
func (u *Urgency) Raised() bool { return u != nil && u.raised.Load() }
