package mixer

import (
	"context"
	"errors"
	"slices"
	"time"

	"relabel"
)

// Observations of an action that ended its rollout.
const (
	brokenText = "The sandbox broke while this action was executed, in a second, fresh sandbox as in the first. The rollout ends here."
	diskText   = "This action wrote more to disk than a sandbox may hold. The rollout ends here."
)

// shortestLook is the least time for reading the working tree or taking the patch, even if less is
// left of the wall clock.
const shortestLook = time.Minute

// isBroken reports whether the sandbox of an earlier attempt broke during its action of turn t,
// which this attempt executes again.
func (r *rollout) isBroken(t int) bool { return r.claim.Broken != nil && r.claim.Broken.T == t }

// isSecond reports whether the action of turn t was the last one before an earlier attempt's
// sandbox broke.
func (r *rollout) isSecond(t int) bool { return slices.Contains(r.claim.BrokeAt, t) }

// breaksWherever reports whether sandboxes of earlier attempts broke at actions of any turns, and
// no retry is left: if sandboxes keep breaking on healthy engines, the agent is the cause.
func (r *rollout) breaksWherever() bool {
	return r.claim.Breaks > 0 && r.claim.Trajectory.EnvironmentFailures >= r.claim.Run.Limits.EnvironmentRetries
}

// judgeBreak classifies the failed execution of the turn's action. If the agent is the cause, it
// returns nil, and the turn ends the rollout (see endingOf).
func (r *rollout) judgeBreak(life context.Context, turn *relabel.Turn, err error) error {
	reason, err := r.judge(life, &relabel.BrokenTurn{T: turn.T, Executor: turn.Executor, Action: turn.Action}, err)
	text := map[relabel.EndReason]string{relabel.EndDisk: diskText, relabel.EndSandboxBroken: brokenText}[reason]
	if text == "" {
		return err
	}
	turn.Observations, turn.Tree = observeAll(turn.T, turn.Action.Message, text), string(reason)
	return nil
}

// judge classifies err, the failure of a sandbox in which last was executed last (nil: nothing was).
// If the agent is the cause, it returns the end reason and no error. The first break on a healthy
// engine is retried in another sandbox: the failure then carries the action.
func (r *rollout) judge(life context.Context, last *relabel.BrokenTurn, err error) (relabel.EndReason, error) {
	var f *failure
	if !errors.As(err, &f) || context.Cause(life) != nil || last == nil {
		return "", err
	}
	switch {
	case relabel.CodeOf(f.cause) == relabel.CodeDisk:
		return relabel.EndDisk, nil
	case !f.broken(), r.engineFailed(life, f.cause):
		return "", err
	case !r.isSecond(last.T) && !r.breaksWherever():
		f.turn = last
		return "", err
	}
	r.log.Warn().AnErr("cause", f.cause).Int("t", last.T).Msg("sandboxes keep breaking on healthy engines; ending the rollout")
	return relabel.EndSandboxBroken, nil
}

// engineFailed reports whether the engine caused the end of the sandbox.
func (r *rollout) engineFailed(life context.Context, err error) bool {
	if r.environment.EngineFailed == nil {
		return false
	}
	host, _ := r.episode.Sandbox()
	return r.environment.EngineFailed(life, host, err)
}

// endingOf returns the end reason of a turn whose execution failed, "" for any other turn. The
// reason is stored in place of the working tree's fingerprint, which such a turn lacks.
func endingOf(turn relabel.Turn) relabel.EndReason {
	switch reason := relabel.EndReason(turn.Tree); reason {
	case relabel.EndDisk, relabel.EndSandboxBroken:
		return reason
	}
	return ""
}

// tree returns the working tree's fingerprint within the remaining wall clock.
func (r *rollout) tree(life context.Context) (string, error) {
	ctx, cancel := r.bounded(life)
	defer cancel()
	tree, err := r.episode.Tree(ctx)
	if err != nil && context.Cause(ctx) != nil {
		return "", stopped(life, context.Cause(ctx))
	}
	return tree, err
}

// bounded returns a context that ends with life, or with errWallClock as its cause after the
// remaining wall clock, at least shortestLook.
func (r *rollout) bounded(life context.Context) (context.Context, context.CancelFunc) {
	left := time.Duration(r.claim.Run.Limits.WallClockSeconds)*time.Second - r.spent()
	if r.clock != nil {
		left = r.clock.rest()
	}
	return context.WithTimeoutCause(life, max(left, shortestLook), errWallClock)
}
