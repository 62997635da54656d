package mixer

import (
	"context"
	"time"

	"relabel"
	"relabel/chat"
)

// Store keeps the data of rollouts. Every method that takes a Fence fails with CodeLeaseLost once the
// trajectory has another attempt or owner, or is cancelled, and has then changed nothing.
// CodeUnavailable means that the database does not answer, also after the store's retries: the
// trajectory is then released, not failed. Methods are safe for concurrent use.
type Store interface {
	// ClaimNext assigns the next trajectory with a task of the kind, or one alike, to owner: attempt+1, state running (labelling if its
	// rollout has ended), a lease by the database's clock, and the turns and the ending of earlier
	// attempts. It fails with CodeNotFound if no trajectory can be claimed now; every change of that
	// wakes a worker.
	ClaimNext(ctx context.Context, owner string, kind relabel.TaskKind, lease time.Duration) (relabel.Claim, error)
	// Look returns the state of each of the fences' trajectories, in the order of fences.
	Look(ctx context.Context, fences []relabel.Fence) ([]relabel.Standing, error)
	// Renew extends the leases of the fences that are valid, and reports for each whether it did, in
	// the order of fences. One that was passed over is retried.
	Renew(ctx context.Context, fences []relabel.Fence, lease time.Duration) ([]bool, error)
	// SetSandbox records which container on which engine the attempt uses.
	SetSandbox(ctx context.Context, f relabel.Fence, dockerHost, container string) error
	// AdoptTurns assigns the turns of attempt from, which this one has replayed, to this attempt.
	// Before that no turn can follow them.
	AdoptTurns(ctx context.Context, f relabel.Fence, from int) error
	// Diverge keeps the turns of attempt from with it, stores where the replay reached another state,
	// and lets this attempt begin without turns.
	Diverge(ctx context.Context, f relabel.Fence, from int, detail string) error
	// CommitTurn stores a turn, its executed action, its observations and the row of its label
	// (available, pending, missing or not selected) in one transaction.
	CommitTurn(ctx context.Context, f relabel.Fence, turn relabel.Turn) error
	// SettleLabel stores the available or missing label of turn t in place of the pending one. It
	// fails with CodeConflict, and changes nothing, if the label is not pending.
	SettleLabel(ctx context.Context, f relabel.Fence, t int, label relabel.Action) error
	// EndRollout stores the end reason and the patch, and moves running to labelling.
	EndRollout(ctx context.Context, f relabel.Fence, end relabel.Ending) error
	// AwaitLabels ends the attempt of a trajectory in labelling with pending labels. The trajectory
	// has no owner until its iteration's labelling begins.
	AwaitLabels(ctx context.Context, f relabel.Fence) error
	// BeginVerifying moves labelling to verifying. It fails with CodeConflict while a label is
	// pending.
	BeginVerifying(ctx context.Context, f relabel.Fence) error
	// RecordTime stores the attempt's phase times and replaces earlier ones. After the attempt's end
	// it changes nothing.
	RecordTime(ctx context.Context, f relabel.Fence, spent relabel.TimeSpent) error
	// Finish stores the verdict and moves verifying to done.
	Finish(ctx context.Context, f relabel.Fence, v relabel.Verdict) error
	// FinishUnverified moves verifying to done without a verdict. It fails with CodeConflict for a
	// trajectory that is to be verified, unless its label rule ended the rollout (EndReason.Cut).
	FinishUnverified(ctx context.Context, f relabel.Fence) error
	// Fail moves the trajectory to failed, with a reason and a detail that is safe to show.
	Fail(ctx context.Context, f relabel.Fence, reason relabel.FailureReason, detail string) error
	// Release returns the trajectory to the queue with its turns, ending and pending labels, and
	// inserts a wake-up; the attempt is kept as released.
	Release(ctx context.Context, f relabel.Fence) error
	// ReleaseWaiting is Release while the endpoint of the trajectory is down: it sums the waits at
	// the step, and ClaimNext passes over the trajectory until the endpoint is back.
	ReleaseWaiting(ctx context.Context, f relabel.Fence, at relabel.Wait, why string) error
	// ReleaseFault is Release after a fault at a step that may be transient. again is false, and
	// nothing changed, if the same fault occurred there too often in a row.
	ReleaseFault(ctx context.Context, f relabel.Fence, step string, fault error) (again bool, err error)
	// ReleaseBroken is Release after an environment failure: it counts the failure, and the next
	// claim waits for the pause. broken is the action during which the sandbox broke, nil if it broke
	// outside of one; the next claim contains it.
	ReleaseBroken(ctx context.Context, f relabel.Fence, detail string, pause time.Duration, broken *relabel.BrokenTurn) error
}

// Policy answers at a state. It retries, records its calls, and is safe for concurrent use.
// CodeContextOverflow means that the state is too long, CodeEndpoint or CodeSecretMissing that the
// call failed, CodeUnavailable that it could not be recorded.
type Policy interface {
	Complete(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error)
}

// Episode is one environment with a scaffold around it: a sandbox, or an index of a repository. Its methods are called by one goroutine. The
// context (the wall clock) may cancel Execute; Patch is taken nevertheless.
type Episode interface {
	// Execute runs the calls of turn t's action in order and returns an observation for each, or one
	// without a call id if there is no call. finished means that the rollout ends with this action, by
	// a call of finish or as the final answer; later calls were not run. Errors are CodeEnvironment, or CodeDisk if commands exceeded the disk limit.
	Execute(ctx context.Context, t int, action relabel.Message) (obs []relabel.Observation, finished bool, err error)
	// Tree returns the working tree's fingerprint. Errors are those of Execute.
	Tree(ctx context.Context) (string, error)
	// Patch takes the submission, a patch or a ranked list, and reports whether it is valid: a patch
	// applies to the base commit. Errors are those of Execute.
	Patch(ctx context.Context) (diff []byte, applies bool, err error)
	// Sandbox names the engine and the container, "" without one.
	Sandbox() (dockerHost, container string)
	// Close removes the sandbox; safe to call more than once.
	Close(ctx context.Context) error
}

// Environment has the functions through which the mixer acts. They are safe for concurrent use.
type Environment struct {
	// Start prepares the claim's sandbox for the first turn. Errors are CodeImageMissing, CodeInvalid
	// if the image lacks the task's commit, CodeNotFound without the task's repository or commit, or
	// CodeEnvironment.
	Start func(ctx context.Context, c relabel.Claim) (Episode, error)
	// Parse classifies an action at a state for the claim's scaffold. It needs no sandbox: late labels
	// have none.
	Parse func(c relabel.Claim, state []relabel.Message, action relabel.Message) relabel.ParseOutcome
	// Cut returns what a model of the claim's scaffold reads when its answer was cut. Nil or "": a
	// text that asks for a shorter answer.
	Cut func(c relabel.Claim) string
	// Verify grades a submission, a patch in a fresh container. A failure of the container is
	// Verdict.Infra, not an error.
	Verify func(ctx context.Context, c relabel.Claim, patch []byte) (relabel.Verdict, error)
	// EngineFailed reports whether the engine at dockerHost, rather than the commands in the sandbox,
	// ended a sandbox with err. Nil means never.
	EngineFailed func(ctx context.Context, dockerHost string, err error) bool
	// Policy opens a policy version.
	Policy func(p relabel.Policy) (Policy, error)
	// Count counts the tokens of prompts near their limit. Nil means that all are estimated.
	Count chat.CountPrompt
	// Down explains why none of a policy's addresses is available now; "" if one is. changed is
	// closed when that may have changed. Nil means that all are available.
	Down func(p relabel.Policy) (why string, changed <-chan struct{})
}
