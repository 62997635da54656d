package labeller

import (
	"context"
	"io"
	"time"

	"relabel"
	"relabel/chat"
)

// Store keeps what is asked for. Every method that takes a fence fails with CodeLeaseLost
// once another has claimed it, or it was cancelled, and has then changed nothing. Methods
// are safe for concurrent use.
type Store interface {
	// ClaimRelabeling gives owner the relabeling whose turn it is. CodeNotFound when there
	// is none.
	ClaimRelabeling(ctx context.Context, owner string, lease time.Duration) (relabel.RelabelClaim, error)
	// RenewRelabeling also says whether its run is paused: then it is to be given back.
	RenewRelabeling(ctx context.Context, f relabel.RelabelFence, lease time.Duration) (paused bool, err error)
	// SettleRelabel stores what the policy answered at the state of turn t, or that it could
	// not be brought to. The same answer again is no error.
	SettleRelabel(ctx context.Context, f relabel.RelabelFence, t int, answer relabel.Action) error
	FinishRelabeling(ctx context.Context, f relabel.RelabelFence) error
	// FailRelabeling gives a reason that is safe to show.
	FailRelabeling(ctx context.Context, f relabel.RelabelFence, reason string) error
	ReleaseRelabeling(ctx context.Context, f relabel.RelabelFence) error

	// ClaimBatch gives owner a batch that is due. CodeNotFound when none is.
	ClaimBatch(ctx context.Context, owner string, lease time.Duration) (relabel.BatchClaim, error)
	RenewBatch(ctx context.Context, f relabel.BatchFence, lease time.Duration) error
	// SplitBatch takes items out of a batch that is not sent yet into another one.
	SplitBatch(ctx context.Context, f relabel.BatchFence, items []relabel.BatchItem) error
	// KeepBatchFile records the file that the endpoint was given, and the size of each item's
	// prompt in it.
	KeepBatchFile(ctx context.Context, f relabel.BatchFence, file string, items []relabel.BatchItem) error
	// SendingBatch records that the endpoint may have the batch from now on; SentBatch, that
	// it has.
	SendingBatch(ctx context.Context, f relabel.BatchFence) error
	SentBatch(ctx context.Context, f relabel.BatchFence, remote string) error
	// PutOffBatch lets go of the batch until pause is over.
	PutOffBatch(ctx context.Context, f relabel.BatchFence, remoteState, detail string, pause time.Duration) error
	// SettleBatched turns a pending label into a received or missing one. One that is not pending any more
	// is left as it is.
	SettleBatched(ctx context.Context, f relabel.BatchFence, item relabel.BatchItem, label relabel.Action) error
	// EndBatch ends the batch. What it still owes goes into one of the next round, which is
	// due after pause.
	EndBatch(ctx context.Context, f relabel.BatchFence, as relabel.BatchState, remoteState, detail string, pause time.Duration) error

	FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error)
	FindTask(ctx context.Context, id relabel.ID) (relabel.Task, error)
	// ListTurns returns turns from a number on, at most limit and fewer if they are large.
	ListTurns(ctx context.Context, trajectory relabel.ID, from, limit int) ([]relabel.Turn, error)
}

// Policy answers at a state. It retries by itself, records its calls, and is safe for
// concurrent use. CodeUnavailable says that the call could not be recorded.
type Policy interface {
	Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
}

// Batches is a policy's batch endpoint. Its methods ask once. CodeEndpoint is a clear
// refusal, which asking again does not mend; CodeUnavailable says that it is not to be had
// now, and leaves open whether the request took place.
type Batches interface {
	// Line is a request as a line of a batch's file, with its newline.
	Line(customID string, req relabel.ChatRequest) []byte
	// Upload gives the endpoint a file of lines and returns its id.
	Upload(ctx context.Context, name string, file io.Reader, size int64) (id string, err error)
	// Create makes a batch of a file, marked with key.
	Create(ctx context.Context, file, key string) (relabel.RemoteBatch, error)
	// Find looks for a batch that is marked with key; nil if there is none.
	Find(ctx context.Context, key string) (*relabel.RemoteBatch, error)
	Get(ctx context.Context, id string) (relabel.RemoteBatch, error)
	Cancel(ctx context.Context, id string) error
	// Answers reads a file of answers. of gives the tools and the turn that a line was asked
	// with, as far as reading its answer takes. An error of each ends it.
	Answers(ctx context.Context, file string, of func(customID string) relabel.ChatRequest, each func(relabel.BatchAnswer) error) error
}

// World is what a Labeller asks of its surroundings. Its functions are safe for concurrent
// use.
type World struct {
	Policy  func(p relabel.Policy) (Policy, error)
	Batches func(p relabel.Policy) (Batches, error)
	// Down says why none of a policy's addresses is to be had now, "" if one is. changed is
	// closed when that may have changed. Nil knows of none.
	Down func(p relabel.Policy) (why string, changed <-chan struct{})
	// Count counts the tokens of prompts near their limit. Nil: all are estimated.
	Count chat.CountPrompt
	// Parse says how an action is understood in the run's scaffold.
	Parse func(run relabel.Run, action relabel.Message) relabel.ParseOutcome
	// Seed is that of the call of a role at turn t.
	Seed func(run relabel.Run, tr relabel.Trajectory, t int, role relabel.Role) int64
	// Record keeps a call that a batch answered; nil keeps none. The same id again is no
	// error.
	Record func(ctx context.Context, c relabel.Call) error
}
