package labeller

import (
	"context"
	"io"
	"time"

	"relabel"
	"relabel/chat"
	"relabel/tokenizer"
)

// Store keeps relabelings, scorings, judgings and batches. A method with a fence fails with CodeLeaseLost, and changes nothing,
// if another worker claimed the work or it was cancelled. Methods are safe for concurrent use.
type Store interface {
	// ClaimRelabeling claims the next relabeling for owner. CodeNotFound if there is none.
	ClaimRelabeling(ctx context.Context, owner string, lease time.Duration) (relabel.RelabelClaim, error)
	// RenewRelabeling also reports whether its run is paused: then it must be released.
	RenewRelabeling(ctx context.Context, f relabel.RelabelFence, lease time.Duration) (paused bool, err error)
	// SettleRelabel stores the policy's answer at the state of turn t, or that it is missing. The same
	// answer again is not an error.
	SettleRelabel(ctx context.Context, f relabel.RelabelFence, t int, answer relabel.Action) error
	FinishRelabeling(ctx context.Context, f relabel.RelabelFence) error
	// FailRelabeling stores a reason that is safe to show.
	FailRelabeling(ctx context.Context, f relabel.RelabelFence, reason string) error
	ReleaseRelabeling(ctx context.Context, f relabel.RelabelFence) error

	// ClaimScoring, RenewScoring, FinishScoring, FailScoring and ReleaseScoring are to scorings what those
	// above are to relabelings.
	ClaimScoring(ctx context.Context, owner string, lease time.Duration) (relabel.ScoreClaim, error)
	RenewScoring(ctx context.Context, f relabel.ScoreFence, lease time.Duration) (paused bool, err error)
	// SettleScores stores scores, received or missing. The same ones again are not an error.
	SettleScores(ctx context.Context, f relabel.ScoreFence, scores []relabel.Score) error
	FinishScoring(ctx context.Context, f relabel.ScoreFence) error
	FailScoring(ctx context.Context, f relabel.ScoreFence, reason string) error
	ReleaseScoring(ctx context.Context, f relabel.ScoreFence) error

	// ClaimJudging, RenewJudging, FailJudging and ReleaseJudging are to judgings what those above are to
	// relabelings.
	ClaimJudging(ctx context.Context, owner string, lease time.Duration) (relabel.JudgeClaim, error)
	RenewJudging(ctx context.Context, f relabel.JudgeFence, lease time.Duration) (paused bool, err error)
	// FinishJudging stores the judgement, whose outcome may be that there is none.
	FinishJudging(ctx context.Context, f relabel.JudgeFence, j relabel.Judgement) error
	FailJudging(ctx context.Context, f relabel.JudgeFence, reason string) error
	ReleaseJudging(ctx context.Context, f relabel.JudgeFence) error

	// ClaimBatch claims a batch that is due for owner. CodeNotFound if none is.
	ClaimBatch(ctx context.Context, owner string, lease time.Duration) (relabel.BatchClaim, error)
	RenewBatch(ctx context.Context, f relabel.BatchFence, lease time.Duration) error
	// SplitBatch moves items of a batch that is not sent yet to another one.
	SplitBatch(ctx context.Context, f relabel.BatchFence, items []relabel.BatchItem) error
	// KeepBatchFile records the endpoint's file, and the size of each item's prompt in it.
	KeepBatchFile(ctx context.Context, f relabel.BatchFence, file string, items []relabel.BatchItem) error
	// SendingBatch records that the endpoint may have the batch from now on; SentBatch that it has it.
	SendingBatch(ctx context.Context, f relabel.BatchFence) error
	SentBatch(ctx context.Context, f relabel.BatchFence, remote string) error
	// PutOffBatch releases the batch until pause is over.
	PutOffBatch(ctx context.Context, f relabel.BatchFence, remoteState, detail string, pause time.Duration) error
	// SettleBatched makes a pending label received or missing. It does not change other labels.
	SettleBatched(ctx context.Context, f relabel.BatchFence, item relabel.BatchItem, label relabel.Action) error
	// EndBatch ends the batch. Its pending labels become a batch of the next round, which is due after
	// pause.
	EndBatch(ctx context.Context, f relabel.BatchFence, as relabel.BatchState, remoteState, detail string, pause time.Duration) error

	FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error)
	FindTaskOf(ctx context.Context, trajectory relabel.ID) (relabel.Task, error)
	// ListTurns returns turns from a number on, at most limit, and fewer if they are large.
	ListTurns(ctx context.Context, trajectory relabel.ID, from, limit int) ([]relabel.Turn, error)
}

// Policy answers at a state, or scores tokens. It retries, records its calls, and is safe for concurrent use.
// CodeUnavailable means that the call could not be recorded.
type Policy interface {
	Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
	// Score returns a score for each span of the request.
	Score(ctx context.Context, req relabel.ScoreRequest) ([]relabel.Score, error)
}

// Batches is a policy's batch endpoint. Its methods do not retry. CodeEndpoint is a clear refusal, for
// which a retry is useless. After CodeUnavailable the endpoint may have executed the request.
type Batches interface {
	// Line is a request as a line of a batch's file, with its newline.
	Line(customID string, req relabel.ChatRequest) []byte
	// Upload sends a file of lines and returns its id.
	Upload(ctx context.Context, name string, file io.Reader, size int64) (id string, err error)
	// Create makes a batch from a file and marks it with key.
	Create(ctx context.Context, file, key string) (relabel.RemoteBatch, error)
	// Find returns the batch with the mark key; nil without one.
	Find(ctx context.Context, key string) (*relabel.RemoteBatch, error)
	Get(ctx context.Context, id string) (relabel.RemoteBatch, error)
	Cancel(ctx context.Context, id string) error
	// Answers reads a file of answers. of returns the tools and the turn of a line's request, which
	// decoding needs. An error of each ends it.
	Answers(ctx context.Context, file string, of func(customID string) relabel.ChatRequest, each func(relabel.BatchAnswer) error) error
}

// World is the surroundings of a Labeller. Its functions are safe for concurrent use.
type World struct {
	Policy  func(p relabel.Policy) (Policy, error)
	Batches func(p relabel.Policy) (Batches, error)
	// Down returns why all of a policy's addresses are down; "" if one is up. changed is closed when
	// that may have changed. Nil: none is ever down.
	Down func(p relabel.Policy) (why string, changed <-chan struct{})
	// Count counts the tokens of prompts near their limit. Nil: all are estimated.
	Count chat.CountPrompt
	// Tokenizer opens a policy's tokenizer. CodeInvalid if the policy has none that is registered.
	Tokenizer func(ctx context.Context, p relabel.Policy) (*tokenizer.Tokenizer, error)
	// Parse classifies an action at a state in the run's scaffold.
	Parse func(run relabel.Run, state []relabel.Message, action relabel.Message) relabel.ParseOutcome
	// Seed returns the seed for the call of a role at turn t.
	Seed func(run relabel.Run, tr relabel.Trajectory, t int, role relabel.Role) int64
	// Record stores a call that a batch answered; nil stores none. The same id again is not an error.
	Record func(ctx context.Context, c relabel.Call) error
	// Answered reports each answer of a batch, which may be reported twice, and Ended a batch that has ended. Nil: no report.
	Answered func(c relabel.BatchClaim, item relabel.BatchItem, a relabel.BatchAnswer)
	Ended    func(c relabel.BatchClaim, as relabel.BatchState, remoteState string)
}
