package relabel

import (
	"errors"
	"sync/atomic"
	"time"
)

// finishLength is the finish reason of a truncated answer.
const finishLength = "length"

// Action returns the action of a policy from its answer. parse classifies a complete
// message.
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

// Truncated reports whether the answer was cut at its length limit.
func (c Completion) Truncated() bool { return c.FinishReason == finishLength }

// outcome classifies an answer. A truncated one is incomplete even if it can be parsed.
func (c Completion) outcome(parse func(Message) ParseOutcome) ParseOutcome {
	switch {
	case c.Truncated():
		return CutByLength
	case c.Refusal != "" && len(c.Message.ToolCalls) == 0:
		return Refused
	}
	return parse(c.Message)
}

// MissingAction returns a missing action of a policy. Its reason is safe to show: the error's
// code and message, or only the code for a state that is too long.
func MissingAction(policy ID, err error) Action {
	reason := string(CodeOf(err))
	if CodeOf(err) != CodeContextOverflow {
		reason += ": " + Shown(err)
	}
	return Action{PolicyID: policy, Status: Missing, Reason: reason}
}

// Shown returns an error's message without its cause, safe to show.
func Shown(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Message
	}
	return "an unexpected failure; details are in the log"
}

// BatchState is the state of a batch of labels.
type BatchState string

// The states of a batch. Each is recorded before the request that follows it.
const (
	BatchPrepared BatchState = "prepared" // its labels are selected; at most the file was sent
	BatchSending  BatchState = "sending"  // it may have been sent: the endpoint's list decides
	BatchSent     BatchState = "sent"     // the endpoint has it under RemoteID
	BatchDone     BatchState = "done"     // its answers are stored
	BatchFailed   BatchState = "failed"   // the endpoint refused or abandoned it
	// BatchCancelled: its labels are no longer needed.
	BatchCancelled BatchState = "cancelled"
)

// LabelBatch is a set of pending labels that goes to the teacher's batch endpoint.
type LabelBatch struct {
	ID          ID         `json:"id" doc:"Its id; the endpoint's metadata names it as relabel_batch."`
	IterationID ID         `json:"iteration_id" doc:"The iteration whose labels it asks for."`
	PolicyID    ID         `json:"policy_id" doc:"The teacher."`
	State       BatchState `json:"state" doc:"prepared, sending (the endpoint may have it), sent, done, failed or cancelled."`
	Round       int        `json:"round" doc:"From 1. Labels that fail in a round are requested again in the next."`
	RemoteFile  string     `json:"remote_file,omitempty" doc:"The endpoint's id of the file of requests."`
	RemoteID    string     `json:"remote_id,omitempty" doc:"The endpoint's id of the batch."`
	RemoteState string     `json:"remote_state,omitempty" doc:"The endpoint's status of it at the last poll."`
	Detail      string     `json:"detail,omitempty" doc:"What went wrong."`
	Labels      int        `json:"labels" doc:"Labels in it."`
	Received    int        `json:"received" doc:"Labels received."`
	Missing     int        `json:"missing" doc:"Labels that failed permanently in it."`
	Returned    int        `json:"returned" doc:"Labels that failed in it and moved to the next round."`
	CreatedAt   time.Time  `json:"created_at" doc:"When it was created."`
	SentAt      *time.Time `json:"sent_at,omitempty" doc:"When the endpoint accepted it."`
	EndedAt     *time.Time `json:"ended_at,omitempty" doc:"When it ended."`
}

// BatchItem is one label of a batch.
type BatchItem struct {
	TrajectoryID ID
	Attempt      int
	T            int
	Size         *PromptSize // of the prompt in its line; nil: no line was written
	Sampling     *Sampling   // of its line; nil: no line was written, or by an earlier version
}

// BatchFence guards every write to a batch; see Fence.
type BatchFence struct {
	BatchID ID
	Claim   int // number of the claim
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

// RemoteBatch is a batch as its endpoint reports it.
type RemoteBatch struct {
	ID         string
	Status     string // validating, in_progress, finalizing, completed, failed, expired, cancelling, cancelled
	OutputFile string // file of the answers; "" if there is none
	ErrorFile  string // file of the failed lines; "" if there is none
	Problem    string // the endpoint's error, safe to show
}

// Over reports whether the batch has ended at its endpoint.
func (b RemoteBatch) Over() bool {
	switch b.Status {
	case "completed", "failed", "expired", "cancelled":
		return true
	}
	return false
}

// BatchAnswer is a batch's answer to one line: a completion or an error.
type BatchAnswer struct {
	CustomID   string
	Completion Completion
	Err        error // CodeContextOverflow, for which a retry cannot help, else CodeEndpoint
}

// Urgency is the priority of a label's call at its endpoint. A raised label precedes other
// labels; calls whose action is executed precede both. It can be raised at any time, even while
// the call waits, from any goroutine. A nil Urgency is never raised.
type Urgency struct{ raised atomic.Bool }

// Raise marks the answer as needed now, for example by a trajectory whose rollout has ended.
// It may be called more than once.
func (u *Urgency) Raise() {
	if u != nil {
		u.raised.Store(true)
	}
}

// Raised reports whether Raise was called.
func (u *Urgency) Raised() bool { return u != nil && u.raised.Load() }
