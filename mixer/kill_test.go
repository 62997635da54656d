package mixer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"relabel"
)

// outcome is what a trajectory came to, but for ids and times.
func (b *bench) outcome() string {
	var s strings.Builder
	for _, turn := range b.turns() {
		fmt.Fprintf(&s, "%d %s %s %s %s", turn.T, turn.Executor, turn.Action.Message.Content, turn.Action.Parse, turn.Tree)
		for _, o := range turn.Observations {
			fmt.Fprintf(&s, " [%s %s %v]", o.CallID, o.Content, exitCode(o))
		}
		if turn.Label != nil {
			fmt.Fprintf(&s, " label %s %s %s %s %v", turn.Label.Status, turn.Label.Reason, turn.Label.Message.Content, turn.Label.Parse, turn.LabelWeight())
		}
		s.WriteByte('\n')
	}
	if e := b.store.ending; e != nil {
		fmt.Fprintf(&s, "%s %q %v\n", e.Reason, e.Patch, e.Submitted)
	}
	fmt.Fprintf(&s, "%s %s %+v", b.store.state, b.store.failure, b.store.verdict)
	return s.String()
}

// killer drops a worker dead at its n-th operation, before it takes place or when it did.
// What the worker had in hand is gone, and nothing that it still does has an effect.
type killer struct {
	b *bench

	mu    sync.Mutex
	left  int
	after bool
	die   context.CancelFunc
	dead  bool
	op    string
}

func (k *killer) strike(op string, after bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.dead {
		return context.Canceled
	}
	if op == "Renew" || op == "Close" || after != k.after {
		return nil
	}
	if k.left--; k.left != 0 {
		return nil
	}
	k.dead, k.op = true, op
	k.b.store.requeued()
	k.die()
	return context.Canceled
}

// rollKilled rolls a worker that dies at operation n, as a process would: its lease runs
// out later. It reports which operation that was, "" if there are fewer.
func (b *bench) rollKilled(n int, after bool) string {
	ctx, die := context.WithCancel(context.Background())
	defer die()
	k := &killer{b: b, left: n, after: after, die: die}
	b.environment.mu.Lock()
	opened, closed := b.environment.opened, b.environment.closed
	b.environment.mu.Unlock()
	before := func(_ context.Context, op string) error { return k.strike(op, false) }
	done := func(_ context.Context, op string) error { return k.strike(op, true) }
	b.store.before, b.environment.before, b.store.after, b.environment.after = before, before, done, done
	_ = b.roll(ctx) // whatever a dead worker says
	b.store.before, b.environment.before, b.store.after, b.environment.after = nil, nil, nil, nil
	b.store.requeued()
	if b.environment.opened-opened != b.environment.closed-closed {
		b.environment.wrong("a sandbox was left open")
	}
	return k.op
}

// neverTwice notes a label that is asked for though its row is available.
func (b *bench) neverTwice() {
	b.environment.asked = func(role relabel.Role, req relabel.ChatRequest) {
		if req.Purpose != relabel.PurposeLabel {
			return
		}
		b.store.mu.Lock()
		defer b.store.mu.Unlock()
		if b.store.labels[labelKey(b.store.trail, req.T)].Status == relabel.Received {
			b.environment.wrong(fmt.Sprintf("the label of turn %d was received and was asked for again", req.T))
		}
	}
}

// journey is a rollout with late labels, a missing label, an action that is
// cut, one that is not understood and one without a call.
func journey() *bench {
	b := newBench("sTsssTs", 7)
	b.environment.executeTime = time.Second
	b.environment.teacher = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		if req.Purpose == relabel.PurposeLabel && req.T == 3 {
			if err := sleep(ctx, 2500*time.Millisecond); err != nil {
				return relabel.Completion{}, err
			}
			return relabel.Completion{}, relabel.Errorf(relabel.CodeEndpoint, "HTTP 500")
		}
		return talks(relabel.Teacher, 7, 4*time.Second)(ctx, req)
	}
	b.environment.student = func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		c, err := talks(relabel.Student, 7, time.Second)(ctx, req)
		switch req.T {
		case 3:
			c.FinishReason = "length"
		case 4:
			c.Message.ToolCalls[0].Arguments = "{"
		case 5:
			c.Message.ToolCalls = nil
		}
		return c, err
	}
	b.neverTwice()
	return b
}

// A worker is killed at every operation of a rollout, before it and after it; then at
// every operation of the one that takes over. What comes of it is the same as without.
func TestAKillAnywhereChangesNothing(t *testing.T) {
	var want string
	synctest.Test(t, func(t *testing.T) {
		b := journey()
		rollToDone(t, b)
		want = b.outcome()
	})
	for _, after := range []bool{false, true} {
		kills := 0
		for n, reached := 1, true; reached; n++ {
			synctest.Test(t, func(t *testing.T) {
				b := journey()
				op := b.rollKilled(n, after)
				reached = op != ""
				if err := b.comesTo(want); err != nil {
					t.Errorf("killed at operation %d, %s (after: %v): %v", n, op, after, err)
				}
			})
			kills = n
			if t.Failed() {
				return
			}
		}
		if kills < 25 {
			t.Errorf("only %d kills (after: %v)", kills, after)
		}
	}
}

func TestAKillInTheReplayOfAKilledRolloutChangesNothing(t *testing.T) {
	var want string
	synctest.Test(t, func(t *testing.T) {
		b := journey()
		rollToDone(t, b)
		want = b.outcome()
	})
	for _, first := range []int{20, 31, 45} { // in the middle, near the end, and while labels come late
		for n, reached := 1, true; reached; n++ {
			synctest.Test(t, func(t *testing.T) {
				b := journey()
				op := b.rollKilled(first, true)
				second := b.rollKilled(n, n%2 == 0)
				reached = second != ""
				if err := b.comesTo(want); err != nil {
					t.Errorf("killed at %d, %s, then at %d, %s: %v", first, op, n, second, err)
				}
			})
			if t.Failed() {
				return
			}
		}
	}
}

// comesTo rolls on to the end and compares.
func (b *bench) comesTo(want string) error {
	for !b.store.state.Terminal() {
		if b.store.waits {
			b.store.label()
		}
		if err := b.roll(context.Background()); err != nil {
			return err
		}
	}
	if got := b.outcome(); got != want {
		return fmt.Errorf("\n%s\nwant\n%s", got, want)
	}
	if p := b.problems(); len(p) > 0 || b.store.diverged != "" {
		return fmt.Errorf("%v, diverged: %q", p, b.store.diverged)
	}
	return nil
}

// Any rollout, killed any number of times at any operation.
func TestAnyKillsChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawScenario(rt)
		s.downAt = 0
		kills := rapid.SliceOfN(rapid.IntRange(1, 60), 1, 5).Draw(rt, "kills")
		after := rapid.Bool().Draw(rt, "after")
		start := func() *bench {
			b := newBench(s.executors, 0)
			b.store.claim.Run.Limits.WallClockSeconds = 1 << 30
			b.environment.teacher, b.environment.student = s.policy(relabel.Teacher, s.teacher), s.policy(relabel.Student, s.student)
			b.environment.executeTime = s.command
			b.neverTwice()
			return b
		}
		undisturbed, killed := start(), start()
		var failed error
		synctest.Test(t, func(t *testing.T) {
			if failed = undisturbed.roll(context.Background()); failed != nil {
				return
			}
			for _, n := range kills {
				if !killed.store.state.Terminal() {
					killed.rollKilled(n, after)
				}
			}
			failed = killed.comesTo(undisturbed.outcome())
		})
		if failed == nil {
			failed = checkStates(s, killed)
		}
		if failed != nil {
			rt.Fatal(failed)
		}
	})
}
