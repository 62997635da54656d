package verify

import (
	"context"
	"time"

	"relabel"
	"relabel/envs/verify/tree"
)

// Validate runs the tests of a task several times with its gold patch and as often without a patch. Limits apply to
// each run. A run that does not end is the last of its patch. Tests that start only with the gold patch have not
// passed without it. The error is only ctx's.
func (v *Verifier) Validate(ctx context.Context, task relabel.Task, limits relabel.RunLimits, times int) (relabel.Validation, error) {
	seconds := int(testTime(limits) / time.Second)
	if r, refused := v.refuse(ctx, task, seconds, times); refused {
		return r, ctx.Err()
	}
	c := candidate{task: task, id: relabel.NewID(), purpose: "validate", limits: limits, patch: []byte(task.Patch), own: true}
	fact, first, err := v.control(ctx, c)
	if err != nil {
		return relabel.Validation{}, err
	}
	c.bare, c.left = !fact.takes, fact.left
	gold := []relabel.Verdict{first.settled()}
	for len(gold) < times && goesOn(gold) {
		t, err := v.timed(ctx, c)
		if err != nil {
			return relabel.Validation{}, err
		}
		gold = append(gold, t.settled())
	}
	c.patch = nil
	var empty []relabel.Verdict
	for len(empty) < times && goesOn(gold) && goesOn(empty) {
		t, err := v.timed(ctx, c)
		if err != nil {
			return relabel.Validation{}, err
		}
		if t.doubt != "" && t.ran && first.doubt == "" && first.verdict.Passed {
			t.doubt, t.verdict.Reason = "", relabel.VerdictUnfinished
		}
		empty = append(empty, t.settled())
	}
	return relabel.Assess(task, times, seconds, gold, empty), nil
}

// refuse says at once that a task without a readable patch or without an image is not sound.
func (v *Verifier) refuse(ctx context.Context, task relabel.Task, seconds, times int) (r relabel.Validation, refused bool) {
	r = relabel.Assess(task, times, seconds, nil, nil)
	if !r.Sound() {
		return r, true
	}
	if err := tree.CheckPatches(task); err != nil {
		r.State, r.Reason, r.Problem = relabel.TaskBroken, relabel.ProblemPatch, err.Error()
		return r, true
	}
	err := v.host.EnsureImage(ctx, task.Image)
	switch {
	case err == nil:
		return r, false
	case relabel.CodeOf(err) == relabel.CodeImageMissing:
		r.State, r.Reason, r.Problem = relabel.TaskBroken, relabel.ProblemImage, err.Error()
	default:
		r.State, r.Reason, r.Problem = relabel.TaskInfra, relabel.ProblemInfra, err.Error()
	}
	return r, true
}

// goesOn reports whether another run of the same patch can tell more: the last one ended.
func goesOn(runs []relabel.Verdict) bool {
	if len(runs) == 0 {
		return true
	}
	last := runs[len(runs)-1]
	return last.Infra == "" && last.Reason != relabel.VerdictTimedOut
}

// timed tests a candidate once and measures the time.
func (v *Verifier) timed(ctx context.Context, c candidate) (trial, error) {
	start := time.Now()
	t, err := v.try(ctx, c)
	t.verdict.Millis, t.verdict.At = time.Since(start).Milliseconds(), time.Now()
	return t, err
}

// settled is the verdict of a trial that is not retried.
func (t trial) settled() relabel.Verdict {
	if t.doubt == "" {
		return t.verdict
	}
	v := infra(t)
	v.Millis, v.At = t.verdict.Millis, t.verdict.At
	return v
}
