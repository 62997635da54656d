package mixer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

// interruption is something that befalls a rollout at its n-th operation.
type interruption struct {
	name string
	// at does it. The operation continues after it, with ctx as it is by then.
	at func(b *bench, shutdown context.CancelFunc)
	// check says what must hold of the trajectory, given Roll's error.
	check func(b *bench, err error) error
	// spares names operations that it does not befall.
	spares map[string]bool
}

var interruptions = []interruption{
	{"shutdown", func(_ *bench, shutdown context.CancelFunc) { shutdown() }, func(b *bench, err error) error {
		switch {
		case errors.Is(err, ErrReleased) && b.store.state == relabel.Queued:
		case err == nil && b.store.state == relabel.Done: // it came too late to matter
		default:
			return fmt.Errorf("error %v, state %s", err, b.store.state)
		}
		return nil
	}, nil},
	{"cancel", func(b *bench, _ context.CancelFunc) { b.store.cancelled() }, letGo(relabel.Cancelled), nil},
	{"takeover", func(b *bench, _ context.CancelFunc) { b.store.takenOver() }, letGo(relabel.Running), map[string]bool{"ClaimNext": true}},
	{"panic", func(b *bench, _ context.CancelFunc) { panic("boom") }, func(b *bench, err error) error {
		if b.store.state != relabel.Failed || b.store.failure != relabel.FailInternal {
			return fmt.Errorf("error %v, state %s %s", err, b.store.state, b.store.failure)
		}
		return nil
	}, map[string]bool{"ClaimNext": true, "Look": true, "Renew": true, "Close": true}},
}

// letGo demands that nothing was written after the trajectory was lost.
func letGo(state relabel.TrajectoryState) func(*bench, error) error {
	return func(b *bench, err error) error {
		code := relabel.CodeOf(err)
		if b.store.state == relabel.Done && err == nil {
			return nil // it was done by then
		}
		if b.store.state != state || b.store.writes != 0 || code != relabel.CodeLeaseLost && code != relabel.CodeNotFound {
			return fmt.Errorf("error %v, state %s, %d writes afterwards", err, b.store.state, b.store.writes)
		}
		return nil
	}
}

// TestInterruptionAtEveryOperation lets each interruption befall each operation that a
// rollout does, in turn: claim, start, calls, commands, commits, labels, patch, removal,
// verification, finish.
func TestInterruptionAtEveryOperation(t *testing.T) {
	for _, what := range interruptions {
		t.Run(what.name, func(t *testing.T) {
			reached := true
			n := 0
			for ; reached; n++ {
				var op string
				synctest.Test(t, func(t *testing.T) {
					op, reached = interrupted(t, what, n)
				})
				if t.Failed() {
					t.Fatalf("at operation %d, %s", n, op)
				}
			}
			if n < 25 {
				t.Errorf("only %d operations were interrupted", n)
			}
		})
	}
}

// interrupted rolls once, with the interruption at operation n. It reports which one
// that was, and whether the rollout has n operations.
func interrupted(t *testing.T, what interruption, n int) (op string, reached bool) {
	ctx, shutdown := context.WithCancel(context.Background())
	defer shutdown()
	b := newBench("sTss", 4)
	b.environment.teacher = talks(relabel.Teacher, 4, 3*time.Second)
	b.environment.student = talks(relabel.Student, 4, time.Second)
	b.environment.executeTime = time.Second
	var mu sync.Mutex
	count, struck := 0, false
	before := func(ctx context.Context, name string) error {
		mu.Lock()
		count++
		mine := count == n+1
		mu.Unlock()
		if mine {
			op, reached = name, true
		}
		if mine && !what.spares[name] {
			struck = true
			what.at(b, shutdown)
		}
		return nil
	}
	b.store.before, b.environment.before = before, before
	err := b.roll(ctx)
	if struck {
		if e := what.check(b, err); e != nil {
			t.Error(e)
		}
	} else if err != nil || b.store.state != relabel.Done {
		t.Errorf("undisturbed: %v, %s", err, b.store.state)
	}
	if p := b.problems(); len(p) > 0 {
		t.Error(p)
	}
	terminal := 0
	for _, s := range b.store.history {
		if s.Terminal() {
			terminal++
		}
	}
	if terminal > 1 {
		t.Errorf("states %v", b.store.history)
	}
	if b.store.state == relabel.Queued { // a released trajectory can be claimed again
		b.store.before, b.environment.before = nil, nil
		if err := b.roll(context.Background()); err != nil || b.store.state != relabel.Done {
			t.Errorf("taken up again: %v, %s", err, b.store.state)
		}
	}
	return op, reached
}

func TestLeaseIsRenewedAsLongAsTheRolloutLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.student = talks(relabel.Student, 1, 10*time.Minute)
		b.store.before = func(_ context.Context, op string) error {
			if op == "Renew" && b.store.renewals%2 == 1 { // one failure in a row is no loss
				b.store.renewals++
				return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
			}
			return nil
		}
		rollToDone(t, b)
	})
}

// A shutdown releases a trajectory whose sandbox takes longer than a lease to
// clear: the lease is renewed until the trajectory is released.
func TestLeaseIsRenewedWhileAStoppingWorkerCleansUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.student = talks(relabel.Student, 1, time.Hour)
		b.environment.before = func(ctx context.Context, op string) error {
			if op == "Close" {
				return sleep(ctx, 59*time.Second)
			}
			return nil
		}
		ctx, stop := context.WithTimeout(t.Context(), 59*time.Second)
		defer stop()
		if err := b.roll(ctx); !errors.Is(err, ErrReleased) || b.store.state != relabel.Queued {
			t.Errorf("error %v, state %s", err, b.store.state)
		}
	})
}

// A verifier that was cut short may take killed tests for failed ones.
func TestVerdictFromWithinAShutdownIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		ctx, stop := context.WithCancel(t.Context())
		verify := b.mixer.environment.Verify
		b.mixer.environment.Verify = func(context.Context, relabel.Claim, []byte) (relabel.Verdict, error) {
			stop()
			return relabel.Verdict{Reason: "tests"}, nil
		}
		if err := b.roll(ctx); !errors.Is(err, ErrReleased) || b.store.verdict != nil {
			t.Errorf("error %v, verdict %+v", err, b.store.verdict)
		}
		b.mixer.environment.Verify = verify
		rollToDone(t, b)
	})
}
