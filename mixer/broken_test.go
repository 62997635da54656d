package mixer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

// engineFails has every sandbox that breaks be the engine's doing.
func (b *bench) engineFails() {
	b.mixer.environment.EngineFailed = func(context.Context, string, error) bool { return true }
}

// breaks has the sandbox break, while turn t is executed, as often as broken says.
func breaks(t int, broken func() bool) func(context.Context, int, relabel.Message) error {
	return func(_ context.Context, at int, _ relabel.Message) error {
		if at == t && broken() {
			return relabel.Errorf(relabel.CodeEnvironment, "the container is gone")
		}
		return nil
	}
}

func TestAnActionThatBreaksTwoSandboxesEndsItsRollout(t *testing.T) {
	for _, executors := range []string{"sss", "TTT"} {
		for _, retries := range []int{0, 2} {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(executors, 100)
				b.store.claim.Run.Limits.EnvironmentRetries = retries
				b.environment.execute = breaks(2, func() bool { return true })
				if err := b.roll(t.Context()); !errors.Is(err, ErrReleased) {
					t.Fatalf("after the first sandbox: %v", err)
				}
				asked := len(b.environment.callsOf(b.store.claim.Trajectory.Executors.At(2)))
				rollToDone(t, b)
				wantEnd(t, b, relabel.EndSandboxBroken, 2)
				if e := b.store.ending; e.Submitted || len(e.Patch) > 0 {
					t.Errorf("ending %+v", e)
				}
				turns := b.store.committed()
				last := turns[len(turns)-1]
				if !strings.Contains(last.Observations[0].Content, "sandbox broke") || last.Label == nil || last.Label.Status != relabel.Received {
					t.Errorf("the last turn is %+v, its label %+v", last, last.Label)
				}
				if again := actCalls(b, 2); again != 1 || asked == 0 {
					t.Errorf("%d calls for the action of turn 2", again)
				}
				if b.environment.opened != 2 {
					t.Errorf("%d sandboxes", b.environment.opened)
				}
				if p := b.problems(); len(p) > 0 {
					t.Error(p)
				}
			})
		}
	}
}

// actCalls counts the calls that asked for the executed action of turn t.
func actCalls(b *bench, t int) (n int) {
	for _, role := range []relabel.Role{relabel.Teacher, relabel.Student} {
		for _, c := range b.environment.callsOf(role) {
			if c.req.T == t && c.req.Purpose == relabel.PurposeAct {
				n++
			}
		}
	}
	return n
}

func TestAnActionThatPassesInASecondSandboxGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTsTs", 5)
		rollToDone(t, b)
		want := b.outcome()
		b = newBench("sTsTs", 5)
		left := 1
		b.environment.execute = breaks(3, func() bool { left--; return left >= 0 })
		if err := b.roll(t.Context()); !errors.Is(err, ErrReleased) {
			t.Fatalf("after the first sandbox: %v", err)
		}
		rollToDone(t, b)
		if got := b.outcome(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		if n := actCalls(b, 3); n != 1 {
			t.Errorf("%d calls for the action of turn 3", n)
		}
	})
}

// A worker that dies between the last turn's commit and the end of the rollout leaves a turn that
// nobody may execute again.
func TestARolloutThatBrokeItsSandboxIsResumedAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 100)
		executed := 0
		b.environment.execute = breaks(2, func() bool { executed++; return true })
		if err := b.roll(t.Context()); !errors.Is(err, ErrReleased) {
			t.Fatal(err)
		}
		end := b.store.before
		b.store.before = func(ctx context.Context, op string) error {
			if op == "EndRollout" {
				return relabel.Errorf(relabel.CodeUnavailable, "the database is gone")
			}
			return nil
		}
		_ = b.roll(t.Context()) // released
		b.store.before = end
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndSandboxBroken, 2)
		if executed != 2 {
			t.Errorf("the action was executed %d times", executed)
		}
	})
}

func TestAnActionThatWritesTooMuchEndsItsRolloutAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sTs", 100)
		b.environment.execute = func(_ context.Context, at int, _ relabel.Message) error {
			if at == 2 {
				return relabel.Errorf(relabel.CodeDisk, "more than 10 GiB")
			}
			return nil
		}
		rollToDone(t, b)
		wantEnd(t, b, relabel.EndDisk, 2)
		if b.store.ending.Submitted || b.environment.opened != 1 {
			t.Errorf("ending %+v, %d sandboxes", b.store.ending, b.environment.opened)
		}
	})
}

// Neither the working tree nor the patch outlives the rollout's wall clock by more than a minute.
func TestASandboxThatHangsEndsWithTheWallClock(t *testing.T) {
	for _, op := range []string{"Tree", "Patch"} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("ss", 2)
			b.store.claim.Run.Limits.WallClockSeconds = 120
			b.environment.before = func(ctx context.Context, now string) error {
				if now == op {
					<-ctx.Done()
				}
				return ctx.Err()
			}
			began := time.Now()
			rollToDone(t, b)
			if e := b.store.ending; e.Reason != relabel.EndWallClock || e.Submitted {
				t.Errorf("%s: ending %+v", op, e)
			}
			if took := time.Since(began); took > 5*time.Minute {
				t.Errorf("%s: it took %s", op, took)
			}
		})
	}
}

// A command that continues beside later actions breaks each sandbox at another turn.
func TestSandboxesThatBreakAtDifferentTurnsAreTheAgentsEndWhenNoTryIsLeft(t *testing.T) {
	for _, retries := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("ssssssss", 100)
			b.store.claim.Run.Limits.EnvironmentRetries = retries
			b.environment.execute = func(_ context.Context, at int, _ relabel.Message) error {
				if at > b.environment.opened {
					return relabel.Errorf(relabel.CodeEnvironment, "the container is gone")
				}
				return nil
			}
			attempts := 1
			for ; errors.Is(b.roll(t.Context()), ErrReleased); attempts++ {
				time.Sleep(10 * time.Minute) // the pause after a broken sandbox
			}
			if e := b.store.ending; e == nil || e.Reason != relabel.EndSandboxBroken || b.store.state != relabel.Done {
				t.Errorf("%d retries: ending %+v, %s %s", retries, e, b.store.state, b.store.failure)
			}
			if want := max(retries, 1) + 1; attempts != want {
				t.Errorf("%d retries: %d attempts, want %d", retries, attempts, want)
			}
		})
	}
}

// A command whose result differs in each sandbox has each replay begin again at turn 1.
func TestSandboxesThatBreakAfterEachDivergenceAreTheAgentsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 100)
		b.store.claim.Run.Limits.EnvironmentRetries = 2
		b.environment.execute = breaks(2, func() bool { return true })
		attempts := 1
		for ; errors.Is(b.roll(t.Context()), ErrReleased); attempts++ {
			b.store.turns[b.store.trail][0].Tree = "random bytes of this sandbox"
			time.Sleep(10 * time.Minute) // the pause after a broken sandbox
		}
		if e := b.store.ending; e == nil || e.Reason != relabel.EndSandboxBroken || attempts != 3 || b.store.diverged == "" {
			t.Errorf("ending %+v after %d attempts, diverged %q, %s", e, attempts, b.store.diverged, b.store.failure)
		}
	})
}
