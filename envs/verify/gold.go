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
	left    map[string]bool // keys of canaries that it does not take
	excused map[string]bool // tests that count although they did not pass: see excused
	changed []string        // files of the tests that its run writes
	counts  testCounts      // of its run
}

// goldFacts remembers what runs of gold patches showed. The zero value is empty. It is safe
// for concurrent use.
type goldFacts struct {
	mu      sync.Mutex
	known   map[taskKey]goldFact
	flights map[taskKey]*flight // controls under way
}

// taskKey identifies all that a run of a task's gold patch depends on.
type taskKey [sha256.Size]byte

// flight is a control under way. Its fields count once done is closed.
type flight struct {
	done  chan struct{}
	doubt string
	err   error
}

// of returns what is known of a task.
func (f *goldFacts) of(task relabel.Task) (fact goldFact, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fact, known = f.known[keyOf(task)]
	return fact, known
}

// find returns what is known of a task, and runs a control, which notes it, where nothing is.
// Concurrent calls for one task share one control; where that of another call was cancelled,
// find runs its own. A doubt says why a control showed nothing. Errors are ctx's.
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

// board returns the control of a task that is under way, or a new one, which is mine to fly.
func (f *goldFacts) board(task relabel.Task) (shared *flight, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := keyOf(task)
	if shared, under := f.flights[key]; under {
		return shared, false
	}
	if f.flights == nil {
		f.flights = map[taskKey]*flight{}
	}
	f.flights[key] = &flight{done: make(chan struct{})}
	return f.flights[key], true
}

// fly runs a control and ends its flight.
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

// note remembers what a control showed, and returns it.
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

// keyOf is a digest of all that a run of the gold patch depends on.
func keyOf(task relabel.Task) taskKey {
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

// hold holds a trial that passed against a run of the gold patch. Where its success rests on
// excused tests, what passes with the gold patch must pass; where it wrote files of the tests,
// what the gold patch leaves alone must be left alone. Where the gold patch was run before,
// as many tests must have been seen as then.
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

// judge is the verdict on a trial that passed, beside what the gold patch showed.
func (fact goldFact) judge(t trial) relabel.Verdict {
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
	if difference := t.counts.differs(fact.counts); difference != "" {
		verdict.Passed, verdict.Reason = false, relabel.VerdictTampered
		verdict.Output = append(verdict.Output, note(difference)...)
	}
	return verdict
}
