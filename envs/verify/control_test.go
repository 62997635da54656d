package verify

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/envs"
)

// flakyHost is a host on which one run of the tests, by number from 1, leaves a test out.
type flakyHost struct {
	envs.Host
	flaky int32
	runs  atomic.Int32
}

func (h *flakyHost) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	s, err := h.Host.Create(ctx, spec)
	return &flakySandbox{Sandbox: s, host: h}, err
}

type flakySandbox struct {
	envs.Sandbox
	host *flakyHost
}

func (s *flakySandbox) Run(ctx context.Context, cmd envs.Command) (envs.Result, error) {
	if strings.Contains(cmd.Args[2], " begin") && s.host.runs.Add(1) == s.host.flaky {
		cmd.Args[4] += " --deselect tests/test_sub.py::test_sub"
	}
	return s.Sandbox.Run(ctx, cmd)
}

// TestAFlakyRunOfTheGoldPatchEndsNoCanaries has the first run of the gold patch fail. A
// submission that takes the runner over must not pass for that, now or later.
func TestAFlakyRunOfTheGoldPatchEndsNoCanaries(t *testing.T) {
	b := newBench(t)
	host := &flakyHost{Host: b.host, flaky: 2} // the first is the submission's
	verifier, forged := New(host), b.patch(inCalc(takeovers["calls"]))
	for _, runs := range []int32{5, 7} { // beside two of the submission: with, without, with canaries; then none
		v, err := verifier.Verify(context.Background(), b.task, relabel.NewID(), 1, limits, forged)
		if err != nil || v.Passed || v.Reason != relabel.VerdictTampered || !v.Canaries {
			t.Errorf("%v: passed %v, reason %q, canaries %v\n%s", err, v.Passed, v.Reason, v.Canaries, v.Output)
		}
		if n := host.runs.Load(); n != runs {
			t.Errorf("%d runs of the tests, want %d", n, runs)
		}
	}
}

// lyingHost is a host on which some runs of the tests, by number from 1, end with exit code 0.
type lyingHost struct {
	envs.Host
	lies map[int32]bool
	runs atomic.Int32
}

func (h *lyingHost) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	s, err := h.Host.Create(ctx, spec)
	return &lyingSandbox{Sandbox: s, host: h}, err
}

type lyingSandbox struct {
	envs.Sandbox
	host *lyingHost
}

func (s *lyingSandbox) Run(ctx context.Context, cmd envs.Command) (envs.Result, error) {
	if strings.Contains(cmd.Args[2], " begin") && s.host.lies[s.host.runs.Add(1)] {
		cmd.Args[4] += "; true"
	}
	return s.Sandbox.Run(ctx, cmd)
}

// TestAContradictionIsAnsweredByTwoCleanRuns has runs of a solution contradict their
// canaries. One is forgiven; one of the two after it is not.
func TestAContradictionIsAnsweredByTwoCleanRuns(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		lies   map[int32]bool
		runs   int32 // one, one of the gold patch, and up to two
		passed bool
	}{
		{map[int32]bool{1: true}, 4, true},
		{map[int32]bool{1: true, 3: true}, 3, false},
		{map[int32]bool{1: true, 4: true}, 4, false},
	} {
		host := &lyingHost{Host: b.host, lies: c.lies}
		v, err := New(host).Verify(context.Background(), b.task, relabel.NewID(), 1, limits, b.patch(gold))
		if err != nil || v.Passed != c.passed || (!v.Passed && v.Reason != relabel.VerdictTampered) || host.runs.Load() != c.runs {
			t.Errorf("%v: %v, passed %v, reason %q, %d runs", c.lies, err, v.Passed, v.Reason, host.runs.Load())
		}
	}
}

// TestOnlyTheCanaryThatATaskCannotRunIsOmitted has test classes that no further class may
// derive from.
func TestOnlyTheCanaryThatATaskCannotRunIsOmitted(t *testing.T) {
	const final = "from calc import sub\n\n\nclass TestSub:\n    def __init_subclass__(cls):\n        raise TypeError(cls)\n\n" +
		"    def test_sub(self):\n        assert sub(3, 1) == 2\n"
	b := newBench(t, file("tests/test_sub.py", final), func(b *bench) {
		b.git("commit", "-q", "-a", "-m", "final")
		b.task.BaseCommit = strings.TrimSpace(string(b.git("rev-parse", "HEAD")))
		b.task.FailToPass = append(b.task.FailToPass, "tests/test_sub.py::TestSub::test_sub")
		b.task.PassToPass = []string{"tests/test_add.py::test_zero"}
	})
	host := &dyingHost{Host: b.host}
	verifier := New(host)
	for _, containers := range []int32{3, 4} { // the first, two controls; then one
		v, err := verifier.Verify(context.Background(), b.task, relabel.NewID(), 1, limits, b.patch(gold))
		if err != nil || !v.Passed || !v.Canaries || !strings.Contains(string(v.Output), "left out: tests/test_sub.py") {
			t.Errorf("%v: passed %v, reason %q, canaries %v\n%s", err, v.Passed, v.Reason, v.Canaries, v.Output)
		}
		if n := host.created.Load(); n != containers {
			t.Errorf("%d containers, want %d", n, containers)
		}
	}
	v, err := verifier.Verify(context.Background(), b.task, relabel.NewID(), 1, limits, b.patch(inCalc(takeovers["calls"])))
	if err != nil || v.Reason != relabel.VerdictTampered || !v.Canaries {
		t.Errorf("a takeover: %v, reason %q\n%s", err, v.Reason, v.Output)
	}
}

func TestConcurrentSubmissionsShareOneControl(t *testing.T) {
	var facts goldFacts
	var controls atomic.Int32
	task, begun, end := relabel.Task{InstanceID: "a", Patch: "x"}, make(chan struct{}), make(chan struct{})
	control := func() (trial, error) {
		if controls.Add(1) == 1 {
			close(begun)
		}
		<-end
		facts.note(task, true, nil, trial{})
		return trial{}, nil
	}
	var all sync.WaitGroup
	find := func() {
		if fact, doubt, err := facts.find(context.Background(), task, control); err != nil || doubt != "" || !fact.takes {
			t.Errorf("%+v %q %v", fact, doubt, err)
		}
	}
	all.Go(find)
	<-begun
	for range 7 {
		all.Go(find)
	}
	close(end)
	all.Wait()
	if n := controls.Load(); n != 1 {
		t.Errorf("%d controls, want 1", n)
	}
}

func TestAControlThatIsCancelledIsRunByThoseThatWait(t *testing.T) {
	var facts goldFacts
	task, begun := relabel.Task{InstanceID: "a", Patch: "x"}, make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	go func() {
		_, _, err := facts.find(ctx, task, func() (trial, error) {
			close(begun)
			<-ctx.Done()
			return trial{doubt: "cancelled"}, ctx.Err()
		})
		first <- err
	}()
	<-begun
	second := make(chan error, 1)
	go func() {
		fact, doubt, err := facts.find(context.Background(), task, func() (trial, error) {
			facts.note(task, true, nil, trial{})
			return trial{}, nil
		})
		if !fact.takes || doubt != "" {
			t.Errorf("%+v %q", fact, doubt)
		}
		second <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	if err := <-second; err != nil {
		t.Errorf("the second: %v", err)
	}
}

// A control that ends between the look for its result and the look for it running is not run again.
func TestAControlThatHasJustEndedIsNotRunAgain(t *testing.T) {
	var facts goldFacts
	task := relabel.Task{InstanceID: "a", Patch: "x"}
	facts.note(task, true, nil, trial{})
	if shared, mine := facts.board(task); mine || shared != landed {
		t.Error("another control is begun")
	}
}
