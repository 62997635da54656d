package mixer

import (
	"context"

	"relabel"
)

// endRollout takes the patch, removes the sandbox, and starts labelling. A valid submission has a
// finish action and a patch that applies and is not empty.
func (r *rollout) endRollout(life context.Context, reason relabel.EndReason) (ending relabel.Ending, err error) {
	defer r.timer.in(relabel.PhaseEnd)()
	patch, applies, err := r.takePatch(life, &reason)
	if err != nil {
		return ending, err
	}
	r.closeSandbox(life)
	ending = relabel.Ending{Reason: reason, Patch: patch, Submitted: reason == relabel.EndFinish && len(patch) > 0 && applies}
	err = r.write(life, func(ctx context.Context) error { return r.store.EndRollout(ctx, r.claim.Fence, ending) })
	if err == nil {
		r.ended = reason
		r.log.Info().Str("state", string(relabel.Labelling)).Str("end", string(reason)).Bool("submitted", ending.Submitted).Msg("trajectory")
	}
	return ending, err
}

// takePatch takes the patch within the remaining wall clock. It changes the end reason if the patch
// takes longer, or if commands broke the sandbox or filled its disk before. There is no patch then, and
// none of a rollout that the label rule ended.
func (r *rollout) takePatch(life context.Context, reason *relabel.EndReason) (patch []byte, applies bool, err error) {
	if *reason == relabel.EndSandboxBroken || reason.Cut() {
		return nil, false, nil
	}
	ctx, cancel := r.bounded(life)
	defer cancel()
	patch, applies, err = r.episode.Patch(ctx)
	switch {
	case err == nil:
		return patch, applies, nil
	case life.Err() == nil && ctx.Err() != nil:
		*reason = relabel.EndWallClock
		return nil, false, nil
	case life.Err() == nil && *reason == relabel.EndDisk:
		return nil, false, nil // there may be no room to take it with
	}
	ended, err := r.judge(life, r.last, stopped(life, environmentFailure(err)))
	if err == nil {
		*reason = ended
	}
	return nil, false, err
}

// tooEarly reports whether this worker may not request pending labels after the rollout: the
// iteration's labelling has not begun, or batches request them.
func (r *rollout) tooEarly() bool {
	mode := r.claim.Run.Labels
	return mode == relabel.LabelsBatch || mode == relabel.LabelsDeferred && r.claim.Iteration.LabellingSince == nil
}

// awaitLabels releases the trajectory until its pending labels are requested.
func (r *rollout) awaitLabels(life context.Context) error {
	r.recordTime(life)
	err := r.write(life, func(ctx context.Context) error { return r.store.AwaitLabels(ctx, r.claim.Fence) })
	if err == nil {
		r.log.Info().Int("pending", r.deferred).Msg("the trajectory waits for its iteration's labelling")
	}
	return err
}

// verify tests the patch in a fresh container, whether or not it was submitted, unless the
// trajectory is not to be verified or its label rule ended the rollout.
func (r *rollout) verify(life context.Context, ending relabel.Ending) error {
	if r.mustRelease() {
		return ErrReleased
	}
	if r.claim.Trajectory.SkipVerify || ending.Reason.Cut() {
		return r.finishUnverified(life)
	}
	release, err := r.acquire(life, r.verifying)
	if err != nil {
		return err
	}
	defer release()
	if err = r.write(life, func(ctx context.Context) error { return r.store.BeginVerifying(ctx, r.claim.Fence) }); err != nil {
		return err
	}
	r.say(relabel.Verifying)
	out := r.timer.in(relabel.PhaseVerify)
	verdict, err := r.environment.Verify(life, r.claim, ending.Patch)
	out()
	switch {
	case err != nil || verdict.Infra != "":
		return stopped(life, verifierFailure(verdict, err))
	case context.Cause(life) != nil: // the verification may have been cut short
		return context.Cause(life)
	}
	r.recordTime(life)
	err = r.write(life, func(ctx context.Context) error { return r.store.Finish(ctx, r.claim.Fence, verdict) })
	if err == nil {
		r.log.Info().Str("state", string(relabel.Done)).Bool("passed", verdict.Passed).Msg("trajectory")
	}
	return err
}

// finishUnverified ends the trajectory without a verdict.
func (r *rollout) finishUnverified(life context.Context) error {
	if err := r.write(life, func(ctx context.Context) error { return r.store.BeginVerifying(ctx, r.claim.Fence) }); err != nil {
		return err
	}
	r.recordTime(life)
	err := r.write(life, func(ctx context.Context) error { return r.store.FinishUnverified(ctx, r.claim.Fence) })
	if err == nil {
		r.log.Info().Str("state", string(relabel.Done)).Bool("verified", false).Msg("trajectory")
	}
	return err
}
