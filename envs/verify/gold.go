package verify

import (
	"context"
	"crypto/sha256"
	"slices"
	"sort"
	"strings"
	"sync"

	"relabel"
)

// goldFact is what a run of the gold patch showed of a task.
type goldFact struct {
	takes   bool            // its run takes canaries
	excused map[string]bool // tests that count although they did not pass: see excused
	changed []string        // files of the tests that its run writes
}

// goldFacts remembers what runs of gold patches showed. The zero value is empty.
type goldFacts struct{ known sync.Map }

// of returns what is known of a task.
func (f *goldFacts) of(task relabel.Task) (fact goldFact, known bool) {
	stored, known := f.known.Load(factKey(task))
	if !known {
		return goldFact{}, false
	}
	fact, _ = stored.(goldFact)
	return fact, true
}

func (f *goldFacts) note(task relabel.Task, takes bool, t trial) {
	fact := goldFact{takes: takes, excused: map[string]bool{}, changed: t.changed}
	for _, id := range excused(t.verdict) {
		fact.excused[id] = true
	}
	f.known.Store(factKey(task), fact)
}

// factKey is a digest of all that a run of the gold patch depends on.
func factKey(task relabel.Task) [sha256.Size]byte {
	fields := []string{task.Image, task.Workdir, task.BaseCommit, task.TestCmd, task.EvalScript, task.LogParser, task.Repo, task.Patch, task.TestPatch}
	fields = append(append(fields, task.FailToPass...), task.PassToPass...)
	return sha256.Sum256([]byte(strings.Join(fields, "\x00")))
}

// excused lists the tests of a verdict that ended as expected failures or were skipped,
// sorted. Code under test can bring that about itself.
func excused(v relabel.Verdict) []string {
	var ids []string
	for id, status := range v.Tests {
		if status == relabel.TestXFail || status == relabel.TestSkipped {
			ids = append(ids, id)
		}
	}
	sort.Strings(ids)
	return ids
}

// hold holds a trial whose success rests on excused tests, or that wrote files of the tests,
// against a run of the gold patch: what passes there must pass, and what is left alone there
// must be left alone.
func (v *Verifier) hold(ctx context.Context, c candidate, t trial) (relabel.Verdict, error) {
	fact, known := v.gold.of(c.task)
	if !known {
		if _, control, err := v.control(ctx, c.gold()); err != nil || control.doubt != "" {
			return infra(control), err
		}
		fact, _ = v.gold.of(c.task)
	}
	verdict := t.verdict
	for _, id := range excused(verdict) {
		if !fact.excused[id] {
			verdict.Passed, verdict.Reason = false, relabel.VerdictTests
			verdict.Output = append(verdict.Output, note(id+" is "+string(verdict.Tests[id])+", which the gold patch does not bring about")...)
			break
		}
	}
	for _, file := range t.changed {
		if !slices.Contains(fact.changed, file) {
			verdict.Passed, verdict.Reason = false, relabel.VerdictTampered
			verdict.Output = append(verdict.Output, note(file+" was written while the tests ran, which the gold patch does not bring about")...)
			break
		}
	}
	return verdict, nil
}
