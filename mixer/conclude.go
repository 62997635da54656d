package mixer

import (
	"context"
	"errors"
	"time"

	"relabel"
	"relabel/lease"
)

// conclude makes of live's error what is to be known of the attempt: let go, given
// back, or failed. Labels and sandbox are gone by then.
func (r *rollout) conclude(ctx, life context.Context, err error) error {
	var failed *failure
	var waits *waiting
	switch {
	case err == nil:
		return nil
	case lease.Lost(err), lease.Lost(context.Cause(life)):
		return r.abandoned()
	case ctx.Err() != nil, errors.Is(err, ErrReleased):
		return r.release(ctx, ErrReleased)
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

// abandoned says that the trajectory is no longer this worker's: nothing is written.
func (r *rollout) abandoned() error {
	r.log.Warn().Msg("lease lost (cancelled or taken over); stopping the rollout")
	return relabel.Errorf(relabel.CodeLeaseLost, "the trajectory was cancelled or is another worker's").Because(lease.ErrLost)
}

// release gives the trajectory back and returns why.
func (r *rollout) release(ctx context.Context, why error) error {
	r.recordTime(ctx)
	err := r.write(ctx, func(ctx context.Context) error { return r.store.Release(ctx, r.claim.Fence) })
	return r.released(err, why)
}

// released returns why the trajectory was given back, or err that it could not be.
func (r *rollout) released(err, why error) error {
	switch {
	case lease.Lost(err):
		return r.abandoned()
	case err != nil:
		return errors.Join(err, why)
	}
	r.givenBack.Add(1)
	r.log.Info().Str("state", string(relabel.Queued)).AnErr("why", why).Msg("trajectory")
	if waits := (*waiting)(nil); errors.As(why, &waits) {
		return ErrReleased
	}
	return why
}

// firstPause is how long a trajectory waits after its first broken sandbox. It doubles
// with each further one: an engine that restarts takes its time.
const firstPause = 10 * time.Second

// mayTryAgain reports whether another attempt may end with a broken sandbox.
// Where the first of all breaks was in the course of an action, one does in any case, also with
// no retries: it shows whether the action was the cause.
func (r *rollout) mayTryAgain(f *failure) bool {
	first := f.turn != nil && r.claim.Breaks == 0
	return first || r.claim.Trajectory.EnvironmentFailures < r.claim.Run.Limits.EnvironmentRetries
}

// releaseBroken gives the trajectory back because its sandbox or verifier broke.
func (r *rollout) releaseBroken(ctx context.Context, f *failure) error {
	r.recordTime(ctx)
	pause := firstPause << min(r.claim.Trajectory.EnvironmentFailures, 5)
	err := r.write(ctx, func(ctx context.Context) error {
		return r.store.ReleaseBroken(ctx, r.claim.Fence, f.detail, pause, f.turn)
	})
	switch {
	case lease.Lost(err):
		return r.abandoned()
	case err != nil:
		return errors.Join(err, f)
	}
	tell2(r.observe.Broke, f.reason, true)
	r.log.Warn().Str("state", string(relabel.Queued)).Str("reason", string(f.reason)).Stringer("pause", pause).AnErr("cause", f.cause).Msg("trajectory")
	return ErrReleased
}

// fail ends the trajectory as failed.
func (r *rollout) fail(ctx context.Context, f *failure) error {
	r.recordTime(ctx)
	err := r.write(ctx, func(ctx context.Context) error {
		return r.store.Fail(ctx, r.claim.Fence, f.reason, f.detail)
	})
	switch {
	case lease.Lost(err):
		return r.abandoned()
	case err != nil:
		return errors.Join(err, f)
	}
	tell2(r.observe.Broke, f.reason, false)
	r.log.Warn().Str("state", string(relabel.Failed)).Str("reason", string(f.reason)).AnErr("cause", f.cause).Msg("trajectory")
	return nil
}
