package verify

import (
	"bytes"
	"context"

	"relabel"
)

// settle decides on a submission.
func (v *Verifier) settle(ctx context.Context, c candidate) (relabel.Verdict, error) {
	t, err := v.decide(ctx, c)
	if err != nil {
		return relabel.Verdict{}, err
	}
	if t.verdict.Passed {
		if t.verdict, err = v.hold(ctx, c, t); err != nil {
			return relabel.Verdict{}, err
		}
	}
	if t.verdict.Tests != nil && !t.verdict.Canaries {
		t.verdict.Output = append(t.verdict.Output, note("the tests ran without canaries: "+t.without())...)
	}
	return t.verdict, nil
}

// without says why a trial had no canaries.
func (t trial) without() string {
	if t.bare {
		return "with the gold patch they do not end as they must"
	}
	return "none can be added to the test command of this task"
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

// experiment settles a trial that is in doubt, or not believed, by what a run of the gold
// patch shows, and by a second run of the submission. What breaks off or contradicts its
// canaries twice around a run that did not is held against the submission.
func (v *Verifier) experiment(ctx context.Context, c candidate, first trial) (trial, error) {
	fact, doubt, err := v.standard(ctx, c, first)
	if err != nil {
		return trial{}, err
	}
	if doubt != "" {
		return trial{verdict: infra(first)}, nil
	}
	if first.doubt == "" && !first.verdict.Passed && fact.takes {
		return first, nil
	}
	c.bare = !fact.takes
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
	}
	return second, nil
}

// standard returns what the gold patch shows of the candidate's task. Where that is known, it
// runs the gold patch again only if the candidate's run broke off: to see whether the engine
// is why. A doubt says why the gold patch shows nothing.
func (v *Verifier) standard(ctx context.Context, c candidate, first trial) (fact goldFact, doubt string, err error) {
	fact, known := v.gold.of(c.task)
	switch {
	case !known:
		return v.learn(ctx, c)
	case first.doubt == "":
		return fact, "", nil
	}
	again, err := v.try(ctx, c.gold())
	return fact, again.doubt, err
}

// learn returns what the gold patch shows of the candidate's task, by a control where nothing
// is known.
func (v *Verifier) learn(ctx context.Context, c candidate) (fact goldFact, doubt string, err error) {
	return v.gold.find(ctx, c.task, func() (trial, error) {
		_, t, err := v.control(ctx, c.gold())
		return t, err
	})
}

// gold is the candidate of a control: the task's gold patch.
func (c candidate) gold() candidate {
	c.patch, c.own, c.purpose = []byte(c.task.Patch), true, c.purpose+"-control"
	return c
}

// controlRounds is how often a control must find that the task's run takes no canaries
// before that is believed: a gold patch whose tests fail now and then would else end the
// canaries of its task.
const controlRounds = 2

// control tests a candidate that is the gold patch, and finds out whether the task's run
// takes canaries. It does where the gold patch passes with them and they end as they must, or
// where they change nothing. That it does not must show in each of controlRounds pairs of
// runs, with canaries and without.
func (v *Verifier) control(ctx context.Context, c candidate) (takes bool, t trial, err error) {
	bare := c
	bare.bare = true
	for range controlRounds {
		with, err := v.timed(ctx, c)
		switch {
		case err != nil || (with.doubt != "" && !with.disturbed):
			return false, with, err
		case (!with.planted && with.doubt == "") || (with.believed() && with.verdict.Passed):
			v.gold.note(c.task, true, with)
			return true, with, nil
		}
		t, err = v.timed(ctx, bare)
		if err != nil || t.doubt != "" {
			return false, t, err
		}
		if takes = with.believed() && !t.verdict.Passed; takes {
			break
		}
	}
	v.gold.note(c.task, takes, t)
	return takes, t, nil
}

// note is a line of ours below the output of the tests.
func note(text string) []byte { return []byte("\n[relabel: " + text + "]\n") }

// infra is the verdict on a trial that says nothing about the submission.
func infra(t trial) relabel.Verdict {
	return relabel.Verdict{Reason: "", Output: t.verdict.Output, Infra: t.doubt}
}
