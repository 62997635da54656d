package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"
	"sync"

	"relabel"
)

// settle decides on a submission.
func (v *Verifier) settle(ctx context.Context, c candidate) (relabel.Verdict, error) {
	if len(bytes.TrimSpace(c.patch)) == 0 {
		return relabel.Verdict{Reason: relabel.VerdictEmptyPatch}, nil
	}
	takes, known := v.takes.of(c.task)
	c.bare = known && !takes
	first, err := v.try(ctx, c)
	switch {
	case err != nil:
		return relabel.Verdict{}, err
	case first.doubt != "" && !first.ran:
		return infra(first), nil
	case first.final(c.task, known):
		return first.verdict, nil
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
func (v *Verifier) experiment(ctx context.Context, c candidate, first trial) (relabel.Verdict, error) {
	gold := c
	gold.patch, gold.own, gold.purpose = []byte(c.task.Patch), true, c.purpose+"-control"
	takes, control, err := v.control(ctx, gold)
	if err != nil {
		return relabel.Verdict{}, err
	}
	if control.doubt != "" {
		return infra(first), nil
	}
	if first.doubt == "" && !first.verdict.Passed && (takes || c.bare) {
		return first.verdict, nil
	}
	c.bare = c.bare || !takes
	second, err := v.try(ctx, c)
	switch {
	case err != nil:
		return relabel.Verdict{}, err
	case second.doubt != "" && !second.ran:
		return infra(second), nil
	case second.doubt != "":
		second.verdict.Passed, second.verdict.Reason = false, relabel.VerdictUnfinished
	case second.verdict.Passed && second.contradiction != "":
		second.verdict.Passed, second.verdict.Reason = false, relabel.VerdictTampered
		second.verdict.Output = append(second.verdict.Output, note(second.contradiction)...)
	case second.verdict.Passed && !takes:
		second.verdict.Output = append(second.verdict.Output, note("the tests of this task run without canaries: with the gold patch they do not end as they must")...)
	}
	return second.verdict, nil
}

// control tests a candidate that is the gold patch, and finds out whether the task's run takes canaries: with
// them the gold patch passes and they end as they must, or they change nothing.
func (v *Verifier) control(ctx context.Context, c candidate) (takes bool, t trial, err error) {
	with, err := v.timed(ctx, c)
	switch {
	case err != nil || c.bare || (with.doubt != "" && !with.disturbed):
		return false, with, err
	case !with.planted && with.doubt == "":
		return true, with, nil
	}
	if with.believed() && with.verdict.Passed {
		v.takes.note(c.task, true)
		return true, with, nil
	}
	c.bare = true
	without, err := v.timed(ctx, c)
	if err != nil || without.doubt != "" {
		return false, without, err
	}
	takes = with.believed() && !without.verdict.Passed
	v.takes.note(c.task, takes)
	return takes, without, nil
}

// note is a line of ours below the output of the tests.
func note(text string) []byte { return []byte("\n[relabel: " + text + "]\n") }

// canaryFacts remembers for which tasks a run takes canaries. The zero value is empty.
type canaryFacts struct{ known sync.Map }

// of returns whether a task's run takes canaries, and whether that is known.
func (f *canaryFacts) of(task relabel.Task) (takes, known bool) {
	fact, known := f.known.Load(factKey(task))
	if !known {
		return false, false
	}
	takes, _ = fact.(bool)
	return takes, true
}

func (f *canaryFacts) note(task relabel.Task, takes bool) { f.known.Store(factKey(task), takes) }

// factKey is a digest of all that a run of the gold patch depends on.
func factKey(task relabel.Task) [sha256.Size]byte {
	fields := []string{task.Image, task.Workdir, task.BaseCommit, task.TestCmd, task.EvalScript, task.LogParser, task.Repo, task.Patch, task.TestPatch}
	fields = append(append(fields, task.FailToPass...), task.PassToPass...)
	return sha256.Sum256([]byte(strings.Join(fields, "\x00")))
}

// infra is the verdict on a trial that says nothing about the submission.
func infra(t trial) relabel.Verdict {
	return relabel.Verdict{Reason: "", Output: t.verdict.Output, Infra: t.doubt}
}
