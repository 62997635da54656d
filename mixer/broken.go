package mixer

import (
	"context"
	"errors"
	"slices"
	"time"

	"relabel"
)

// What a model would have read about an action that ended its rollout: it has no outcome.
const (
	brokenText = "The sandbox broke while this action was executed, in a second, fresh sandbox as in the first. The rollout ends here."
	diskText   = "This action wrote more to disk than a sandbox may hold. The rollout ends here."
)

// shortestLook is the least time that reading the working tree or taking the patch is given,
// however little of the rollout's wall clock is left.
const shortestLook = time.Minute

// isBroken reports whether the action of turn t is that of an earlier attempt whose sandbox broke
// in its course.
func (r *rollout) isBroken(t int) bool { return r.claim.Broken != nil && r.claim.Broken.T == t }

// isSecond reports whether a sandbox of an earlier attempt broke where the action of turn t was the
// last one.
func (r *rollout) isSecond(t int) bool { return slices.Contains(r.claim.BrokeAt, t) }

// breaksWherever reports whether sandboxes of earlier attempts broke at actions too, at whichever
// turns, and no further try is left: what breaks sandbox after sandbox on engines that are well is
// what the agent does.
func (r *rollout) breaksWherever() bool {
	return r.claim.Breaks > 0 && r.claim.Trajectory.EnvironmentFailures >= r.claim.Run.Limits.EnvironmentRetries
}

// judgeBreak says what it means that the execution of the turn's action failed with err. What the
// action did is the agent's end: nil, and the turn is one that ends the rollout (see endingOf).
func (r *rollout) judgeBreak(life context.Context, turn *relabel.Turn, err error) error {
	reason, err := r.judge(life, &relabel.BrokenTurn{T: turn.T, Executor: turn.Executor, Action: turn.Action}, err)
	switch reason {
	case relabel.EndDisk:
		return end(turn, reason, diskText)
	case relabel.EndSandboxBroken:
		return end(turn, reason, brokenText)
	}
	return err
}

// judge says what err, the failure of a sandbox, means, where last is the last action that was
// executed in it; nil is none. What commands did is the agent's end: its reason, and no error. The
// first time that a sandbox breaks and its engine is well, the same is to be tried in another one:
// the failure bears the action.
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

// engineFailed asks whether the engine is to blame for the end of the sandbox.
func (r *rollout) engineFailed(life context.Context, err error) bool {
	if r.environment.EngineFailed == nil {
		return false
	}
	host, _ := r.episode.Sandbox()
	return r.environment.EngineFailed(life, host, err)
}

// end makes the turn one that ends the rollout.
func end(turn *relabel.Turn, reason relabel.EndReason, text string) error {
	turn.Observations, turn.Tree = observeAll(turn.T, turn.Action.Message, text), string(reason)
	return nil
}

// endingOf returns why a turn whose execution did not come to its end ended the rollout, "" for
// every other turn. There is no working tree after such a turn: the reason is in its place.
func endingOf(turn relabel.Turn) relabel.EndReason {
	switch reason := relabel.EndReason(turn.Tree); reason {
	case relabel.EndDisk, relabel.EndSandboxBroken:
		return reason
	}
	return ""
}

// tree returns the working tree's fingerprint, within what is left of the wall clock.
func (r *rollout) tree(life context.Context) (string, error) {
	ctx, cancel := r.bounded(life)
	defer cancel()
	tree, err := r.episode.Tree(ctx)
	if err != nil && context.Cause(ctx) != nil {
		return "", stopped(life, context.Cause(ctx))
	}
	return tree, err
}

// bounded returns a context that ends with life, and with errWallClock as its cause when the
// rollout's wall clock is over, but not before shortestLook.
func (r *rollout) bounded(life context.Context) (context.Context, context.CancelFunc) {
	left := time.Duration(r.claim.Run.Limits.WallClockSeconds)*time.Second - r.spent()
	if r.clock != nil {
		left = r.clock.rest()
	}
	return context.WithTimeoutCause(life, max(left, shortestLook), errWallClock)
}
