// Package verify finds the verdict R(τ, x) of a submission. In a fresh container of the
// task's image it applies the patch to an index of its own, drops what is not graded, lays
// the rest and the task's tests into the working tree, runs the test command with canaries
// beside the tests, and reads the log.
//
// docs/verdicts.md says what a verdict promises, what is dropped, how canaries work and
// what is not defended. The steps are stage's. Package tree reads the patch, protect has the
// rules for paths, canary the canaries, testcmd the test command and results the log. Doubts are
// settled by Verifier.settle.
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
	patch   []byte          // empty: the repository as it is
	own     bool            // the patch is the task's own, not a submission
	bare    bool            // without canaries
	left    map[string]bool // keys of canaries that are left out
}
