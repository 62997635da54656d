package mixer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"relabel"
	"relabel/lease"
)

// conclude ends the attempt according to live's error: abandoned, released or failed. Its labels and
// its sandbox have ended.
func (r *rollout) conclude(ctx, life context.Context, err error) error {
	var failed *failure
	var waits *waiting
	switch {
	case err == nil:
		return nil
	case lease.Lost(err), lease.Lost(context.Cause(life)):
		return r.abandoned()
	case ctx.Err() != nil, errors.Is(err, ErrReleased):
		return r.release(ctx, ErrReleased, func(ctx context.Context) error { return r.store.Release(ctx, r.claim.Fence) })
	case errors.As(err, &waits):
		return r.releaseWaiting(ctx, waits)
	case errors.As(err, &failed) && failed.broken() && r.mayTryAgain(failed):
		return r.releaseBroken(ctx, failed)
	case errors.As(err, &failed):
		return r.fail(ctx, failed)
	case relabel.CodeOf(err) == relabel.CodeUnavailable:
		return r.releaseFault(ctx, err)
	}
	return r.fail(ctx, &failure{reason: relabel.FailInternal, detail: relabel.Shown(err), cause: err})
}

// abandoned is the error of a lost lease: nothing is written.
func (r *rollout) abandoned() error {
	r.log.Warn().Msg("lease lost (cancelled or taken over); stopping the rollout")
	return relabel.Errorf(relabel.CodeLeaseLost, "the trajectory was cancelled, or another worker has it").Because(lease.ErrLost)
}

// finish ends the attempt with a write to the store. An error of the write is joined with why.
func (r *rollout) finish(ctx context.Context, why error, write func(context.Context) error) error {
	r.recordTime(ctx)
	err := r.write(ctx, write)
	if lease.Lost(err) {
		return r.abandoned()
	}
	if err != nil {
		return errors.Join(err, why)
	}
	return nil
}

// release returns the trajectory to the queue with a write to the store. It returns why, or
// ErrReleased for a wait.
func (r *rollout) release(ctx context.Context, why error, write func(context.Context) error) error {
	if err := r.finish(ctx, why, write); err != nil {
		return err
	}
	r.releases.Add(1)
	r.log.Info().Str("state", string(relabel.Queued)).AnErr("why", why).Msg("trajectory")
	if waits := (*waiting)(nil); errors.As(why, &waits) {
		return ErrReleased
	}
	return why
}

// firstPause is the pause after a trajectory's first broken sandbox. It doubles with each further
// one, because an engine takes time to restart.
const firstPause = 10 * time.Second

// mayTryAgain reports whether another attempt may follow a broken sandbox. After the first break
// during an action one always does, also without retries: it shows whether the action was the cause.
func (r *rollout) mayTryAgain(f *failure) bool {
	first := f.turn != nil && r.claim.Breaks == 0
	return first || r.claim.Trajectory.EnvironmentFailures < r.claim.Run.Limits.EnvironmentRetries
}

// releaseBroken returns the trajectory to the queue because its sandbox or verifier broke.
func (r *rollout) releaseBroken(ctx context.Context, f *failure) error {
	pause := firstPause << min(r.claim.Trajectory.EnvironmentFailures, 5)
	err := r.finish(ctx, f, func(ctx context.Context) error {
		return r.store.ReleaseBroken(ctx, r.claim.Fence, f.detail, pause, f.turn)
	})
	if err != nil {
		return err
	}
	r.broke = f.reason
	tell2(r.observe.Broke, f.reason, true)
	r.log.Warn().Str("state", string(relabel.Queued)).Str("reason", string(f.reason)).Stringer("pause", pause).AnErr("cause", f.cause).Msg("trajectory")
	return ErrReleased
}

// releaseWaiting returns the trajectory to the queue until its endpoint is back, without using an
// attempt. It fails if all attempts together waited for longer than the policy's patience.
func (r *rollout) releaseWaiting(ctx context.Context, w *waiting) error {
	if executor := r.executorAt(w.step); executor != nil && r.patienceOver(w.step, *executor) {
		return r.fail(ctx, &failure{reason: relabel.FailEndpoint, cause: w,
			detail: fmt.Sprintf("%s: the endpoint was down for longer than the policy's patience of %d s, over all attempts", executor.Name, executor.Limits.PatienceSeconds)})
	}
	return r.release(ctx, w, func(ctx context.Context) error {
		return r.store.ReleaseWaiting(ctx, r.claim.Fence, relabel.Wait{Step: w.step, For: w.took}, w.why)
	})
}

// releaseFault returns the trajectory to the queue after a fault of the store that may be transient.
// A fault that repeats at the same step fails the trajectory.
func (r *rollout) releaseFault(ctx context.Context, fault error) error {
	step := stepOf(r.timer.currentTurn())
	persists := &failure{reason: relabel.FailInternal, cause: fault, detail: "the same fault occurred repeatedly at " + step + ": " + relabel.Shown(fault)}
	err := r.release(ctx, fault, func(ctx context.Context) error {
		again, err := r.store.ReleaseFault(ctx, r.claim.Fence, step, fault)
		if err == nil && !again {
			return persists
		}
		return err
	})
	if errors.Is(err, persists) {
		return r.fail(ctx, persists)
	}
	return err
}

// fail ends the trajectory as failed.
func (r *rollout) fail(ctx context.Context, f *failure) error {
	err := r.finish(ctx, f, func(ctx context.Context) error {
		return r.store.Fail(ctx, r.claim.Fence, f.reason, f.detail)
	})
	if err != nil {
		return err
	}
	r.broke = f.reason
	tell2(r.observe.Broke, f.reason, false)
	r.log.Warn().Str("state", string(relabel.Failed)).Str("reason", string(f.reason)).AnErr("cause", f.cause).Msg("trajectory")
	return nil
}
