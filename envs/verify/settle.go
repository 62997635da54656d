package verify

import (
	"bytes"
	"context"

	"relabel"
)

// settle decides on a submission.
func (v *Verifier) settle(ctx context.Context, c candidate) (relabel.Verdict, error) {
	t, err := v.decide(ctx, c)
	if err != nil || !t.verdict.Passed || len(excused(t.verdict))+len(t.changed) == 0 {
		return t.verdict, err
	}
	return v.hold(ctx, c, t)
}

// decide finds the trial whose verdict counts: the first, or that of an experiment.
func (v *Verifier) decide(ctx context.Context, c candidate) (trial, error) {
	if len(bytes.TrimSpace(c.patch)) == 0 {
		return trial{verdict: relabel.Verdict{Reason: relabel.VerdictEmptyPatch}}, nil
	}
	fact, known := v.gold.of(c.task)
	c.bare = known && !fact.takes
	first, err := v.try(ctx, c)
	switch {
	case err != nil:
		return trial{}, err
	case first.doubt != "" && !first.ran:
		return trial{verdict: infra(first)}, nil
	case first.final(c.task, known):
		return first, nil
	}
	return v.experiment(ctx, c, first)
}

// final reports whether a trial decides by itself. Where it is known that the task's run
// takes canaries, a failure is the submission's. Otherwise a failure that the canaries may
// have caused is not final.
func (t trial) final(task relabel.Task, known bool) bool {
	switch {
	case t.doubt != "":
		return false
	case t.verdict.Passed:
		return t.contradiction == ""
	case known || !t.planted:
		return true
	}
	return !t.disturbed && !almost(task, t.verdict) && (t.contradiction != "" || !absent(task, t.verdict))
}

// almost reports whether each FAIL_TO_PASS test passed: what failed are tests that passed
// before.
func almost(task relabel.Task, v relabel.Verdict) bool {
	for _, id := range task.FailToPass {
		if !v.Tests[id].Passed() {
			return false
		}
	}
	return true
}

// absent reports whether none of the task's tests was seen.
func absent(task relabel.Task, v relabel.Verdict) bool {
	for _, status := range v.Tests {
		if status != relabel.TestAbsent {
			return false
		}
	}
	return true
}

// experiment settles a trial that is in doubt, or not believed, by a run with the gold
// patch, and by a second run of the submission. What breaks off or contradicts its
// canaries twice around a run that did not is held against the submission.
func (v *Verifier) experiment(ctx context.Context, c candidate, first trial) (trial, error) {
	takes, control, err := v.control(ctx, c.gold())
	if err != nil {
		return trial{}, err
	}
	if control.doubt != "" {
		return trial{verdict: infra(first)}, nil
	}
	if first.doubt == "" && !first.verdict.Passed && (takes || c.bare) {
		return first, nil
	}
	c.bare = c.bare || !takes
	second, err := v.try(ctx, c)
	switch {
	case err != nil:
		return trial{}, err
	case second.doubt != "" && !second.ran:
		return trial{verdict: infra(second)}, nil
	case second.doubt != "":
		second.verdict.Passed, second.verdict.Reason = false, relabel.VerdictUnfinished
	case second.verdict.Passed && second.contradiction != "":
		second.verdict.Passed, second.verdict.Reason = false, relabel.VerdictTampered
		second.verdict.Output = append(second.verdict.Output, note(second.contradiction)...)
	case second.verdict.Passed && !takes:
		second.verdict.Output = append(second.verdict.Output, note("the tests of this task run without canaries: with the gold patch they do not end as they must")...)
	}
	return second, nil
}

// gold is the candidate of a control run: the task's gold patch.
func (c candidate) gold() candidate {
	c.patch, c.own, c.purpose = []byte(c.task.Patch), true, c.purpose+"-control"
	return c
}

// control tests a candidate that is the gold patch, and finds out whether the task's run
// takes canaries: with them the gold patch passes and they end as they must, or they
// change nothing.
func (v *Verifier) control(ctx context.Context, c candidate) (takes bool, t trial, err error) {
	with, err := v.timed(ctx, c)
	switch {
	case err != nil || (with.doubt != "" && (c.bare || !with.disturbed)):
		return false, with, err
	case c.bare || (!with.planted && with.doubt == "") || (with.believed() && with.verdict.Passed):
		v.gold.note(c.task, !c.bare, with)
		return !c.bare, with, nil
	}
	c.bare = true
	without, err := v.timed(ctx, c)
	if err != nil || without.doubt != "" {
		return false, without, err
	}
	takes = with.believed() && !without.verdict.Passed
	v.gold.note(c.task, takes, without)
	return takes, without, nil
}

// note is a line of ours below the output of the tests.
func note(text string) []byte { return []byte("\n[relabel: " + text + "]\n") }

// infra is the verdict on a trial that says nothing about the submission.
func infra(t trial) relabel.Verdict {
	return relabel.Verdict{Reason: "", Output: t.verdict.Output, Infra: t.doubt}
}
