package verify

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/verify/canary"
)

const (
	// preparing bounds each step before the tests.
	preparing = 15 * time.Minute
	// looking bounds each look at the container before and after the tests.
	looking = 2 * time.Minute
	// maxLog is how much of the test command's output is read, and maxKept how much of
	// it is kept with the verdict, in bytes.
	maxLog  = 32 << 20
	maxKept = 1 << 20
)

// trial is one run of a candidate in one container.
type trial struct {
	verdict relabel.Verdict
	doubt   string // why the verdict may say nothing about the candidate; "" if it does
	ran     bool   // code of the candidate was run: the doubt may be its doing
	planted bool   // canaries were in the run
	below   bool   // some of them below the tests of the task
	bare    bool   // it was to have none
	// reported says that Jest or Vitest was asked for a report.
	reported bool
	left     map[string]bool // keys of canaries that it went without
	missed   []canary.Miss   // the canaries that did not end as they must; where there are any, the run is not believed
	// leavable says that canaries which must fail remain where the missed ones are left out.
	leavable  bool
	changed   []string // files of the tests that were written while they ran
	counts    testCounts
	disturbed bool // a canary, or the command with them, could not run, or run a test once more, which may be their own fault
}

// believed reports whether the run came to its end and its canaries ended as they must.
func (t trial) believed() bool { return t.doubt == "" && len(t.missed) == 0 }

// doubtful is a trial that went wrong before any code of the candidate ran.
func doubtful(format string, args ...any) trial { return trial{doubt: fmt.Sprintf(format, args...)} }

// try tests a candidate in a fresh container. Errors are ctx's.
func (v *Verifier) try(ctx context.Context, c candidate) (t trial, err error) {
	defer func() {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	if len(c.task.FailToPass) == 0 {
		return doubtful("the task names no FAIL_TO_PASS test, so nothing could show that it is resolved"), nil
	}
	if err := v.host.EnsureImage(ctx, c.task.Image); err != nil {
		return doubtful("%v", err), nil
	}
	sandbox, err := v.host.Create(ctx, v.spec(c))
	if err != nil {
		return doubtful("%v", err), nil
	}
	// What Close cannot remove has a deadline and is reaped; the verdict stands all the same.
	defer func() { _ = sandbox.Close(ctx) }()
	s := stage{sandbox: sandbox, candidate: c, nonce: newNonce()}
	return s.play(ctx), nil
}

// spec describes the container of a trial.
func (v *Verifier) spec(c candidate) envs.Spec {
	return envs.Spec{
		Name: envs.SandboxName(c.id, c.attempt, c.purpose),
		Labels: envs.Labels{
			Trajectory: c.id.String(), Attempt: c.attempt, Purpose: c.purpose,
			Deadline: time.Now().Add(testTime(c.limits) + 4*preparing),
		},
		Image: c.task.Image, Workdir: c.task.Workdir,
	}
}

// testTime is how long the test command may run.
func testTime(limits relabel.RunLimits) time.Duration {
	seconds := limits.VerifySeconds
	if seconds <= 0 {
		seconds = relabel.PaperLimits.VerifySeconds
	}
	return time.Duration(seconds) * time.Second
}

// newNonce returns a word that code under test cannot guess.
func newNonce() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the process instead
	return hex.EncodeToString(b)
}
