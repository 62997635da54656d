package verify

import (
	"context"
	"time"

	"relabel"
)

// Observation is what a run of a test command showed.
type Observation struct {
	Tests        map[string]relabel.TestStatus // all tests that the log names
	DoesNotApply bool                          // the patch or the test patch does not apply
	TimedOut     bool
	Problem      string // why the run says nothing about the patch; "" if it does
	// Engine reports that the container, not the patch, is the problem: another run may succeed.
	Engine  bool
	Log     []byte
	Seconds float64
}

// Observe runs the tests of a task once with a patch of its author, as Validate does but without canaries. The task's
// FAIL_TO_PASS and PASS_TO_PASS are not read. The error is only ctx's.
func (v *Verifier) Observe(ctx context.Context, task relabel.Task, patch string, timeout time.Duration) (Observation, error) {
	task.FailToPass, task.PassToPass = []string{"any"}, nil
	limits := relabel.RunLimits{VerifySeconds: int(timeout.Seconds())}
	c := candidate{task: task, id: relabel.NewID(), purpose: "build", limits: limits, patch: []byte(patch), own: true, bare: true}
	start := time.Now()
	t, err := v.try(ctx, c)
	if err != nil {
		return Observation{}, err
	}
	if t.unnamed { // as before a change that the tests need to compile
		t.doubt = ""
	}
	return Observation{
		Tests: t.outcomes, Log: t.verdict.Output, Seconds: time.Since(start).Seconds(), TimedOut: t.verdict.Reason == relabel.VerdictTimedOut,
		DoesNotApply: t.unapplied || t.verdict.Reason == relabel.VerdictDoesNotApply || t.verdict.Reason == relabel.VerdictUnsafe,
		Problem:      t.doubt, Engine: t.doubt != "" && !t.ran,
	}, nil
}
