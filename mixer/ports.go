package mixer

import (
	"context"
	"time"

	"relabel"
	"relabel/chat"
)

// Store keeps what a rollout finds. Every method that takes a Fence fails with
// CodeLeaseLost once the trajectory has another attempt or owner, or is cancelled, and
// has then changed nothing. CodeUnavailable says that the database does not answer, now
// and after the store's own retries: the trajectory is then given back, not failed.
// Methods are safe for concurrent use.
type Store interface {
	// ClaimNext gives the trajectory whose turn it is to owner: attempt+1, state running
	// (labelling where its rollout was over), a lease by the database's clock, and the turns
	// and the ending that earlier attempts left. It fails with CodeNotFound when nothing is to
	// be claimed now; whatever changes that wakes a worker.
	ClaimNext(ctx context.Context, owner string, lease time.Duration) (relabel.Claim, error)
	// Look returns the state of each of the fences' trajectories, in the order of fences.
	Look(ctx context.Context, fences []relabel.Fence) ([]relabel.Standing, error)
	// Renew extends the leases of the fences that hold, and says of each whether it did,
	// in the order of fences. One that was passed over is tried again.
	Renew(ctx context.Context, fences []relabel.Fence, lease time.Duration) ([]bool, error)
	// SetSandbox records which container on which engine the attempt uses.
	SetSandbox(ctx context.Context, f relabel.Fence, dockerHost, container string) error
	// AdoptTurns makes the turns of attempt from, which this one has replayed, its own.
	// Before that no turn can follow them.
	AdoptTurns(ctx context.Context, f relabel.Fence, from int) error
	// Diverge leaves the turns of attempt from to it, says in detail where the replay came
	// to another state, and lets this attempt begin without turns.
	Diverge(ctx context.Context, f relabel.Fence, from int, detail string) error
	// CommitTurn stores a turn, its executed action, its observations and the label's
	// row (had, owed or missing) in one transaction.
	CommitTurn(ctx context.Context, f relabel.Fence, turn relabel.Turn) error
	// SettleLabel turns an owed label of turn t into had or missing. A label that is not
	// owed is left as it is, which is a CodeConflict error.
	SettleLabel(ctx context.Context, f relabel.Fence, t int, label relabel.Action) error
	// EndRollout stores the end reason and the patch, and moves running to labelling.
	EndRollout(ctx context.Context, f relabel.Fence, end relabel.Ending) error
	// AwaitLabels lets go of a trajectory in labelling, with what it owes: the attempt is
	// over, and nobody owns the trajectory until its iteration's labelling begins.
	AwaitLabels(ctx context.Context, f relabel.Fence) error
	// BeginVerifying moves labelling to verifying. It fails with CodeConflict while a
	// label is owed.
	BeginVerifying(ctx context.Context, f relabel.Fence) error
	// RecordTime stores where the attempt's time went, in place of what was stored before.
	// After the attempt's end it changes nothing.
	RecordTime(ctx context.Context, f relabel.Fence, spent relabel.TimeSpent) error
	// Finish stores the verdict and moves verifying to done.
	Finish(ctx context.Context, f relabel.Fence, v relabel.Verdict) error
	// Fail moves the trajectory to failed, with a reason and a detail that is safe to show.
	Fail(ctx context.Context, f relabel.Fence, reason relabel.FailureReason, detail string) error
	// Release gives the trajectory back to the queue, with turns, ending and owed labels,
	// and a wake-up for whoever goes on with it; the attempt is kept as released.
	Release(ctx context.Context, f relabel.Fence) error
	// ReleaseWaiting is Release while the endpoint of the trajectory is down: it adds up how
	// long it waited at the step, and ClaimNext passes over it until the endpoint is back.
	ReleaseWaiting(ctx context.Context, f relabel.Fence, at relabel.Wait, why string) error
	// ReleaseFault is Release after a fault at a step that may be transient. again is false,
	// and nothing changed, where the same fault came there too often in a row to be.
	ReleaseFault(ctx context.Context, f relabel.Fence, step string, fault error) (again bool, err error)
	// ReleaseBroken is Release after an environment failure: it counts it, and the next
	// claim waits for the pause. broken is the action in the course of which the sandbox broke,
	// nil where it was none's; the next claim has it.
	ReleaseBroken(ctx context.Context, f relabel.Fence, detail string, pause time.Duration, broken *relabel.BrokenTurn) error
}

// Policy answers at a state. It retries by itself, records its calls, and is safe for
// concurrent use. A CodeContextOverflow error says that the state is too long; a
// CodeEndpoint or CodeSecretMissing error that no answer is to be had; CodeUnavailable
// that the call could not be recorded.
type Policy interface {
	Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
}

// Episode is one sandbox with a scaffold around it. Its methods are called by one
// goroutine. Execute may be given up half-way by its context (the wall clock); Patch is
// taken all the same.
type Episode interface {
	// Execute runs the calls of turn t's action in order and returns an observation for
	// each, or one without a call id where it has none. finished says that finish was
	// called; nothing after it was run. Errors are CodeEnvironment, or CodeDisk where its
	// commands wrote more to disk than they may.
	Execute(ctx context.Context, t int, action relabel.Message) (obs []relabel.Observation, finished bool, err error)
	// Tree returns the working tree's fingerprint. Errors are those of Execute.
	Tree(ctx context.Context) (string, error)
	// Patch takes the submission and says whether it applies to the base commit. Errors are
	// those of Execute.
	Patch(ctx context.Context) (diff []byte, applies bool, err error)
	// Sandbox says which container on which engine this is.
	Sandbox() (dockerHost, container string)
	// Close removes the sandbox; safe to call more than once.
	Close(ctx context.Context) error
}

// Environment is what the mixer acts in. Its functions are safe for concurrent use.
type Environment struct {
	// Start makes the claim's sandbox ready for the first turn. Errors are
	// CodeImageMissing, CodeInvalid where the image is not the task's, or CodeEnvironment.
	Start func(ctx context.Context, c relabel.Claim) (Episode, error)
	// Parse says how an action is understood in the claim's scaffold, without a sandbox:
	// late labels have none.
	Parse func(c relabel.Claim, action relabel.Message) relabel.ParseOutcome
	// Verify tests a patch in a fresh container. What goes wrong with the container is
	// Verdict.Infra, not an error.
	Verify func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error)
	// EngineFailed reports whether it was the engine at dockerHost that ended a sandbox with err,
	// rather than what was executed in it; nil: never.
	EngineFailed func(ctx context.Context, dockerHost string, err error) bool
	// Policy opens a policy version.
	Policy func(p relabel.Policy) (Policy, error)
	// Count counts the tokens of prompts near their limit. Nil: all are estimated.
	Count chat.CountPrompt
	// Down says why none of a policy's addresses is to be had now, "" where one is. changed is
	// closed when that may have changed. Nil knows of none.
	Down func(p relabel.Policy) (why string, changed <-chan struct{})
}
