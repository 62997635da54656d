// Package verify finds the verdict R(τ, x) of a submission. In a fresh container of the task's image,
// it applies the patch to a separate index, drops changes that are not graded, writes the others and
// the task's tests into the working tree, runs the test command with canaries, and reads the log.
//
// docs/verdicts.md defines verdicts, dropped changes, canaries and known limits. Type stage has the
// steps. Package tree reads the patch, protect has the rules for paths, canary the canaries, testcmd
// the test command and results the log. Verifier.settle decides doubtful runs.
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

// New returns a verifier that creates its containers on host.
func New(host envs.Host) *Verifier { return &Verifier{host: host} }

// Verify tests the patch that an attempt of trajectory id submitted. Failures of containers are in
// Verdict.Infra; the error is only ctx's.
//
// The submission or the engine may have interrupted a run. Then Verify runs the gold patch in another
// container and, if that succeeds, the submission again. The submission has failed if both of its
// runs are interrupted. Tests that exceed their time limit have failed; validation checks that the
// gold patch does not exceed it.
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

// candidate is a patch to test.
type candidate struct {
	task    relabel.Task
	id      relabel.ID
	attempt int
	purpose string
	limits  relabel.RunLimits
	patch   []byte          // empty: the repository as it is
	own     bool            // the patch is the task's own
	bare    bool            // without canaries
	left    map[string]bool // keys of excluded canaries
}
