package mixer

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"relabel"
)

// failsAt has an operation of the sandbox fail with code, as often as it is asked for.
func failsAt(op string, code relabel.Code) func(context.Context, string) error {
	return func(_ context.Context, now string) error {
		if now == op {
			return relabel.Errorf(code, "%s failed", op)
		}
		return nil
	}
}

// Commands that run beside the model's answer can fill the disk when the last action, finish, runs
// nothing.
func TestADiskThatIsFullWhenThePatchIsTakenIsTheAgentsEnd(t *testing.T) {
	for _, op := range []string{"Patch", "Tree"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("sT", 2)
			b.environment.before = failsAt(op, relabel.CodeDisk)
			rollToDone(t, b)
			if e := b.store.ending; e.Reason != relabel.EndDisk || e.Submitted || b.environment.opened != 1 {
				t.Errorf("%s: ending %+v, %d sandboxes", op, e, b.environment.opened)
			}
		})
	}
}

func TestASandboxThatBreaksTwiceWhenThePatchIsTakenIsTheAgentsEnd(t *testing.T) {
	for _, retries := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("sTs", 3)
			b.store.claim.Run.Limits.EnvironmentRetries = retries
			b.environment.before = failsAt("Patch", relabel.CodeEnvironment)
			if err := b.roll(t.Context()); !errors.Is(err, ErrReleased) {
				t.Fatalf("after the first sandbox: %v", err)
			}
			rollToDone(t, b)
			if e := b.store.ending; e.Reason != relabel.EndSandboxBroken || e.Submitted || len(e.Patch) > 0 {
				t.Errorf("ending %+v", e)
			}
			if turns := b.store.committed(); len(turns) != 3 || actCalls(b, 3) != 1 || b.environment.opened != 2 {
				t.Errorf("%d turns, %d calls for turn 3, %d sandboxes", len(turns), actCalls(b, 3), b.environment.opened)
			}
			if p := b.problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

func TestASandboxThatBreaksOnceWhenThePatchIsTakenIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTs", 3)
		left := 1
		b.environment.before = func(_ context.Context, op string) error {
			if op == "Patch" && left > 0 {
				left--
				return relabel.Errorf(relabel.CodeEnvironment, "the container is gone")
			}
			return nil
		}
		if err := b.roll(t.Context()); !errors.Is(err, ErrReleased) {
			t.Fatal(err)
		}
		rollToDone(t, b)
		if e := b.store.ending; e.Reason != relabel.EndFinish || !e.Submitted {
			t.Errorf("ending %+v", e)
		}
	})
}

// A failure of the engine is nobody's action, whenever it occurs.
func TestAnEngineThatFailsWhenThePatchIsTakenIsNotTheAgentsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTs", 3)
		b.engineFails()
		b.environment.before = failsAt("Patch", relabel.CodeEnvironment)
		if err := b.roll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b.store.state != relabel.Failed || len(b.store.brokeAt) > 0 {
			t.Errorf("%s, broke at %v", b.store.state, b.store.brokeAt)
		}
	})
}

// The turns that were committed stay the rollout's when it ends in its replay.
func TestAReplayThatFillsTheDiskOrBreaksTwiceIsTheAgentsEnd(t *testing.T) {
	for code, want := range map[relabel.Code]struct {
		end   relabel.EndReason
		broke []int
	}{
		relabel.CodeDisk:        {relabel.EndDisk, nil},
		relabel.CodeEnvironment: {relabel.EndSandboxBroken, []int{1}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("sTs", 100)
			executed := 0
			b.environment.execute = func(_ context.Context, at int, _ relabel.Message) error {
				if executed++; executed > 2 && at == 1 {
					return relabel.Errorf(code, "not again")
				}
				return nil
			}
			healthy := b.store.before
			b.store.before = func(_ context.Context, op string) error {
				if op == "CommitTurn" && executed == 2 {
					return relabel.Errorf(relabel.CodeUnavailable, "the database is gone")
				}
				return nil
			}
			_ = b.roll(t.Context()) // released after one turn
			b.store.before = healthy
			if n := len(b.store.committed()); n != 1 {
				t.Fatalf("%d turns", n)
			}
			for b.store.ending == nil && b.store.state == relabel.Queued {
				_ = b.roll(t.Context())
			}
			if e := b.store.ending; e == nil || e.Reason != want.end || len(b.store.committed()) != 1 || !slices.Equal(b.store.brokeAt, want.broke) {
				t.Errorf("%s: ending %+v, %d turns, broke at %v", code, e, len(b.store.committed()), b.store.brokeAt)
			}
			if p := b.problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}
