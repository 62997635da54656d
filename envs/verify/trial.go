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
	"relabel/envs/verify/tree"
	"relabel/testlog"
)

const (
	preparing = 15 * time.Minute // time limit of each step before the tests
	looking   = 2 * time.Minute  // time limit of each check around the tests
	maxLog    = 32 << 20         // bytes of the test command's output that are read
	maxKept   = 1 << 20          // bytes of it that are stored with the verdict
)

// trial is one run of a candidate in one container.
type trial struct {
	verdict   relabel.Verdict
	doubt     string          // why the verdict may not be the candidate's; "" if it is
	ran       bool            // code of the candidate ran, so it may have caused the doubt
	planted   bool            // the run had canaries
	below     bool            // some of them at the end of the task's test files
	bare      bool            // the run was to have no canaries
	reported  bool            // a runner other than pytest was to write a report
	left      map[string]bool // keys of excluded canaries
	missed    []canary.Miss   // contradictions; a run with one is not trusted
	leavable  bool            // without the missed canaries, one that must fail remains
	disturbed bool            // canaries may have made the run fail, see canary.Planting.Broken
	changed   []string        // files of the tests that changed during the run
	counts    testCounts
	outcomes  testlog.Outcomes // all tests of the log
	unnamed   bool             // the command failed, and its log names no test
	unapplied bool             // the task's test patch does not apply
}

// believed reports whether the run ended and agrees with its canaries.
func (t trial) believed() bool { return t.doubt == "" && len(t.missed) == 0 }

// doubtful is a trial that failed before code of the candidate ran.
func doubtful(format string, args ...any) trial { return trial{doubt: fmt.Sprintf(format, args...)} }

// try tests a candidate in a fresh container. The error is only ctx's.
func (v *Verifier) try(ctx context.Context, c candidate) (t trial, err error) {
	defer func() {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	if len(c.task.FailToPass) == 0 && len(c.task.Expected) == 0 {
		return doubtful("the task has no FAIL_TO_PASS test, so nothing can show that it is resolved"), nil
	}
	if err := tree.CheckPatches(c.task); err != nil {
		return doubtful("%v", err), nil
	}
	if err := v.host.EnsureImage(ctx, c.task.Image); err != nil {
		return doubtful("%v", err), nil
	}
	sandbox, err := v.host.Create(ctx, v.spec(c))
	if err != nil {
		return doubtful("%v", err), nil
	}
	// A container that Close cannot remove is reaped after its deadline.
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

// newNonce returns a word that cannot be guessed.
func newNonce() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails: it ends the process instead
	return hex.EncodeToString(b)
}
