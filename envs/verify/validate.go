package verify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"relabel"
)

// Validate runs the tests of a task with its gold patch and without a patch. Limits apply to each
// run. Tests that start only with the gold patch have not passed without it. The error is only
// ctx's.
func (v *Verifier) Validate(ctx context.Context, task relabel.Task, limits relabel.RunLimits) (relabel.Validation, error) {
	c := candidate{task: task, id: relabel.NewID(), purpose: "validate", limits: limits, patch: []byte(task.Patch), own: true}
	fact, gold, err := v.control(ctx, c)
	if err != nil {
		return relabel.Validation{}, err
	}
	c.patch, c.bare, c.left = nil, !fact.takes, fact.left
	empty, err := v.timed(ctx, c)
	if err != nil {
		return relabel.Validation{}, err
	}
	if empty.doubt != "" && empty.ran && gold.doubt == "" && gold.verdict.Passed {
		empty.doubt, empty.verdict.Reason = "", relabel.VerdictUnfinished
	}
	r := relabel.Validation{Gold: gold.settled(), Empty: empty.settled()}
	r.Seconds = float64(r.Gold.Millis+r.Empty.Millis) / 1000
	r.Problem = problemOf(task, r)
	return r, nil
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

// problemOf tells what is wrong with a task; "" if it is sound.
func problemOf(task relabel.Task, r relabel.Validation) string {
	switch {
	case strings.TrimSpace(task.Patch) == "":
		return "it has no gold patch"
	case r.Gold.Infra != "":
		return "with the gold patch: " + r.Gold.Infra
	case !r.Gold.Passed && r.Gold.Reason == relabel.VerdictTests:
		return "the gold patch does not resolve it: " + unpassed(r.Gold)
	case !r.Gold.Passed:
		return "the gold patch does not resolve it: " + string(r.Gold.Reason)
	case r.Empty.Infra != "":
		return "without a patch: " + r.Empty.Infra
	case r.Empty.Passed:
		return "it is resolved without any patch"
	}
	return ""
}

// unpassed counts the tests that did not pass, and names the first in order.
func unpassed(v relabel.Verdict) string {
	first, count := "", 0
	for id, status := range v.Tests {
		if status == relabel.TestPassed || status == relabel.TestXFail {
			continue
		}
		if count++; first == "" || id < first {
			first = id
		}
	}
	return fmt.Sprintf("%d tests did not pass, such as %s (%s)", count, first, v.Tests[first])
}
