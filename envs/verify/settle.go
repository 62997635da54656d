package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/envs/verify/canary"
)

// settle returns the verdict on a submission.
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
	switch {
	case t.verdict.Tests == nil:
	case !t.verdict.Canaries:
		t.verdict.Output = append(t.verdict.Output, note("the tests ran without canaries: "+t.without())...)
	case len(t.left) > 0:
		t.verdict.Output = append(t.verdict.Output, note("canaries that the gold patch does not satisfy are left out: "+keyList(t.left))...)
	}
	return t.verdict, nil
}

// keyList names the first 20 of the sorted keys of canaries.
func keyList(keys map[string]bool) string {
	const maxListed = 20
	sorted := slices.Sorted(maps.Keys(keys))
	if len(sorted) <= maxListed {
		return strings.Join(sorted, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(sorted[:maxListed], ", "), len(sorted)-maxListed)
}

// without tells why a trial had no canaries.
func (t trial) without() string {
	if t.bare {
		return "with the gold patch they do not end as they must"
	}
	return "none can be added to the test command of this task"
}

// decide returns the trial whose verdict counts: the first, or that of an experiment.
func (v *Verifier) decide(ctx context.Context, c candidate) (trial, error) {
	if len(bytes.TrimSpace(c.patch)) == 0 {
		return trial{verdict: relabel.Verdict{Reason: relabel.VerdictEmptyPatch}}, nil
	}
	fact, known := v.gold.of(c.task)
	c.bare, c.left = known && !fact.takes, fact.left
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

// final reports whether a trial needs no experiment. A failure that the canaries may have caused is
// not final, unless the canaries of the task are known.
func (t trial) final(task relabel.Task, known bool) bool {
	switch {
	case t.doubt != "":
		return false
	case t.verdict.Passed:
		return len(t.missed) == 0
	case known || !t.planted:
		return true
	}
	return !t.disturbed && !almost(task, t.verdict) && (len(t.missed) > 0 || !absent(t.verdict))
}

// almost reports whether every FAIL_TO_PASS test passed.
func almost(task relabel.Task, v relabel.Verdict) bool {
	return !slices.ContainsFunc(task.FailToPass, func(id string) bool { return !v.Tests[id].Passed() })
}

// absent reports whether none of the task's tests ran.
func absent(v relabel.Verdict) bool {
	for _, status := range v.Tests {
		if status != relabel.TestAbsent {
			return false
		}
	}
	return true
}

// cleanRuns is how many runs must agree with their canaries after one that did not, so that code
// that tampers with random runs gains little.
const cleanRuns = 2

// experiment decides about a trial that is doubtful or not trusted, by a run of the gold patch and
// further runs of the submission. The submission fails if it is interrupted or contradicts its
// canaries again, and the gold patch is not.
func (v *Verifier) experiment(ctx context.Context, c candidate, first trial) (trial, error) {
	fact, doubt, err := v.standard(ctx, c, first)
	if err != nil {
		return trial{}, err
	}
	if doubt != "" {
		first.doubt = cmp.Or(first.doubt, doubt)
		return trial{verdict: infra(first)}, nil
	}
	if fact.explains(first) {
		first.left = fact.left
		return first, nil
	}
	c.bare, c.left = !fact.takes, fact.left
	rounds := 1
	if fact.takes && len(first.missed) > 0 {
		rounds = cleanRuns
	}
	var again trial
	for range rounds {
		if again, err = v.again(ctx, c); err != nil || !again.verdict.Passed {
			break
		}
	}
	return again, err
}

// explains reports whether a trial's verdict counts, given the run of the gold patch: the trial
// contradicts only canaries that the gold patch contradicts too, or it failed with canaries with
// which the gold patch passes.
func (fact goldFact) explains(t trial) bool {
	if t.doubt != "" || !fact.takes || fact.left[canary.BelowKey] {
		return false
	}
	if t.reported && fact.left[canary.ReportKey] && !t.verdict.Passed {
		return false // writing the report may have made it fail
	}
	return !t.verdict.Passed || !slices.ContainsFunc(t.missed, func(m canary.Miss) bool { return !fact.left[m.Key] })
}

// again tests a submission again after a trial that was doubtful or not trusted.
func (v *Verifier) again(ctx context.Context, c candidate) (trial, error) {
	t, err := v.try(ctx, c)
	switch {
	case err != nil:
		return trial{}, err
	case t.doubt != "" && !t.ran:
		return trial{verdict: infra(t)}, nil
	case t.doubt != "":
		t.verdict.Passed, t.verdict.Reason = false, relabel.VerdictUnfinished
	case t.verdict.Passed && len(t.missed) > 0:
		t.verdict.Passed, t.verdict.Reason = false, relabel.VerdictTampered
		t.verdict.Output = append(t.verdict.Output, note(t.missed[0].Why)...)
	}
	return t, nil
}

// standard returns the facts about the candidate's task. If they are known but the candidate's run
// was interrupted, it runs the gold patch again to check the engine. A doubt tells why the gold
// patch showed nothing.
func (v *Verifier) standard(ctx context.Context, c candidate, first trial) (fact goldFact, doubt string, err error) {
	fact, known := v.gold.of(c.task)
	if !known {
		return v.learn(ctx, c)
	}
	if first.doubt == "" {
		return fact, "", nil
	}
	again, err := v.try(ctx, c.gold())
	return fact, again.doubt, err
}

// learn returns the facts about the candidate's task. It runs a control if they are not known.
func (v *Verifier) learn(ctx context.Context, c candidate) (fact goldFact, doubt string, err error) {
	return v.gold.find(ctx, c.task, func() (trial, error) {
		_, t, err := v.control(ctx, c.gold())
		return t, err
	})
}

// gold is the candidate with the task's gold patch.
func (c candidate) gold() candidate {
	c.patch, c.own, c.purpose = []byte(c.task.Patch), true, c.purpose+"-control"
	return c
}

// note is a line of relabel below the output of the tests.
func note(text string) []byte { return []byte("\n[relabel: " + text + "]\n") }

// infra is the verdict of a doubtful trial.
func infra(t trial) relabel.Verdict {
	return relabel.Verdict{Output: t.verdict.Output, Infra: t.doubt}
}
