// Package verify finds the verdict R(τ, x) of a submission: it applies the patch in a
// fresh container of the task's image, puts the tests back as the task has them, runs
// the test command and reads its log.
//
// What of a submission cannot move the verdict: edits of tests, of their support files,
// of the test runner's configuration, of Makefiles and scripts that the test command runs;
// planted conftest.py, sitecustomize.py or modules that shadow the runner; symlinks;
// killing the test process, its parents or the whole container; and, where the command
// runs pytest itself (see witnessed), text that looks like test results and ending the
// process early. What is not defended: code that runs inside the test process, as every
// solution does, and was written to take over the test runner itself, by replacing its
// functions in memory or by writing the report that witness.go reads; and where there is
// no report to hold the log against, code that prints a log of its own.
package verify

import (
	"context"
	"time"

	"relabel"
	"relabel/envs"
)

// Verifier tests submissions. It is safe for concurrent use.
type Verifier struct {
	host envs.Host
	gold goldFacts
}

// New returns a verifier that makes its containers on host.
func New(host envs.Host) *Verifier { return &Verifier{host: host} }

// Verify tests the patch that attempt of trajectory id submitted. What goes wrong with
// a container is Verdict.Infra; an error is ctx's alone.
//
// A run of the tests that broke off may be the submission's doing or the engine's. It
// is settled by experiment: the tests run with the gold patch in another container, and
// if that goes well, once more with the submission. Only what breaks off twice around a
// run that did not is held against the submission. A submission whose tests take too long
// has failed: that the gold patch is in time is for validation to see.
func (v *Verifier) Verify(ctx context.Context, task relabel.Task, id relabel.ID, attempt int, limits relabel.RunLimits, patch []byte) (relabel.Verdict, error) {
	start := time.Now()
	c := candidate{task: task, id: id, attempt: attempt, purpose: "verify", limits: limits, patch: patch}
	verdict, err := v.settle(ctx, c)
	if err != nil {
		return relabel.Verdict{}, err
	}
	verdict.Protections = relabel.ProtectionsVersion
	verdict.Millis, verdict.At = time.Since(start).Milliseconds(), time.Now()
	return verdict, nil
}

// candidate is a patch that is to be tested, and for what.
type candidate struct {
	task    relabel.Task
	id      relabel.ID
	attempt int
	purpose string
	limits  relabel.RunLimits
	patch   []byte // empty: the repository as it is
	own     bool   // the patch is the task's own, not a submission
	bare    bool   // without canaries
}
