package verify

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"

	"relabel"
)

// goldFact is the result of a control of a task.
type goldFact struct {
	takes   bool            // its run has canaries
	left    map[string]bool // keys of excluded canaries
	excused map[string]bool // see excused
	changed []string        // files of the tests that changed during the run
	counts  testCounts
}

// goldFacts stores the results of controls. The zero value is empty. It is safe for concurrent use.
type goldFacts struct {
	mu      sync.Mutex
	known   map[taskKey]goldFact
	flights map[taskKey]*flight // running controls
}

// taskKey identifies everything that a run of a task's gold patch depends on.
type taskKey [sha256.Size]byte

// flight is a running control. The other fields are set when done is closed.
type flight struct {
	done  chan struct{}
	doubt string
	err   error
}

// of returns the fact of a task.
func (f *goldFacts) of(task relabel.Task) (fact goldFact, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fact, known = f.known[keyOf(task)]
	return fact, known
}

// find returns the fact of a task. If it is not known, find runs a control, which stores it.
// Concurrent calls for a task share a control. If the control of another call was cancelled, find
// runs its own. A doubt tells why a control showed nothing. The error is only ctx's.
func (f *goldFacts) find(ctx context.Context, task relabel.Task, control func() (trial, error)) (fact goldFact, doubt string, err error) {
	for {
		if fact, known := f.of(task); known {
			return fact, "", nil
		}
		shared, mine := f.board(task)
		if mine {
			f.fly(task, shared, control)
		}
		select {
		case <-shared.done:
		case <-ctx.Done():
			return goldFact{}, "", ctx.Err()
		}
		if shared.doubt != "" || (mine && shared.err != nil) {
			return goldFact{}, shared.doubt, shared.err
		}
	}
}

// landed is a control that has ended.
var landed = func() *flight {
	ended := &flight{done: make(chan struct{})}
	close(ended.done)
	return ended
}()

// board returns the running control of a task, or a new one, which the caller must run. If a control
// has stored its result meanwhile, it returns landed.
func (f *goldFacts) board(task relabel.Task) (shared *flight, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := keyOf(task)
	if _, known := f.known[key]; known {
		return landed, false
	}
	if shared, under := f.flights[key]; under {
		return shared, false
	}
	if f.flights == nil {
		f.flights = map[taskKey]*flight{}
	}
	f.flights[key] = &flight{done: make(chan struct{})}
	return f.flights[key], true
}

// fly runs a control.
func (f *goldFacts) fly(task relabel.Task, mine *flight, control func() (trial, error)) {
	t, err := control()
	mine.doubt, mine.err = t.doubt, err
	if err != nil {
		mine.doubt = ""
	}
	f.mu.Lock()
	delete(f.flights, keyOf(task))
	f.mu.Unlock()
	close(mine.done)
}

// note stores the result of a control and returns it.
func (f *goldFacts) note(task relabel.Task, takes bool, left map[string]bool, t trial) goldFact {
	fact := goldFact{takes: takes, left: left, excused: map[string]bool{}, changed: t.changed, counts: t.counts}
	for _, id := range excused(t.verdict) {
		fact.excused[id] = true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[taskKey]goldFact{}
	}
	f.known[keyOf(task)] = fact
	return fact
}

func keyOf(task relabel.Task) taskKey {
	fields := []string{task.Image, task.Workdir, task.BaseCommit, task.TestCmd, task.EvalScript, task.LogParser, task.Repo, task.Patch, task.TestPatch, task.StartPatch, fmt.Sprint(task.Expected)}
	fields = slices.Concat(fields, task.FailToPass, task.PassToPass)
	return sha256.Sum256([]byte(strings.Join(fields, "\x00")))
}

// excused lists, sorted, the tests of a verdict that failed as expected or were skipped. Code under
// test can cause that.
func excused(v relabel.Verdict) []string {
	var ids []string
	for id, status := range v.Tests {
		if status == relabel.TestXFail || status == relabel.TestSkipped {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// hold compares a trial that passed with a run of the gold patch. It runs the gold patch only if the
// trial has excused tests or changed files of the tests.
func (v *Verifier) hold(ctx context.Context, c candidate, t trial) (relabel.Verdict, error) {
	if _, known := v.gold.of(c.task); !known && len(excused(t.verdict))+len(t.changed) == 0 {
		return t.verdict, nil
	}
	fact, doubt, err := v.learn(ctx, c)
	if err != nil || doubt != "" {
		return infra(trial{verdict: t.verdict, doubt: doubt}), err
	}
	return fact.judge(t), nil
}

// judge is the verdict on a trial that passed: it must not have more excused tests or changed files
// than the gold patch, and the same number of tests.
func (fact goldFact) judge(t trial) relabel.Verdict {
	verdict := t.verdict
	fail := func(reason relabel.VerdictReason, why string) {
		verdict.Passed, verdict.Reason = false, reason
		verdict.Output = append(verdict.Output, note(why)...)
	}
	ids := excused(verdict)
	if i := slices.IndexFunc(ids, func(id string) bool { return !fact.excused[id] }); i >= 0 {
		fail(relabel.VerdictTests, ids[i]+" is "+string(verdict.Tests[ids[i]])+", but not with the gold patch")
	}
	if i := slices.IndexFunc(t.changed, func(file string) bool { return !slices.Contains(fact.changed, file) }); i >= 0 {
		fail(relabel.VerdictTampered, t.changed[i]+" changed while the tests ran, but not with the gold patch")
	}
	if difference := t.counts.differs(fact.counts); difference != "" {
		fail(relabel.VerdictTampered, difference)
	}
	return verdict
}
