package mixer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
	"relabel/lease"
)

func TestCancelEndsTheRunningCallAtTheNextCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, time.Hour)
		b.environment.teacher = talks(relabel.Teacher, 3, time.Hour)
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		time.Sleep(25 * time.Second)
		start := time.Now()
		b.store.cancelled()
		if err := <-done; relabel.CodeOf(err) != relabel.CodeLeaseLost {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took > lease.CheckPeriod {
			t.Errorf("stopped after %s", took)
		}
		if p := b.problems(); len(p) > 0 || b.store.writes != 0 {
			t.Error(p, b.store.writes)
		}
	})
}

func TestLeaseThatCannotBeRenewedForItsLengthIsLost(t *testing.T) {
	for _, hangs := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("s", 1)
			b.environment.student = talks(relabel.Student, 1, time.Hour)
			b.store.before = func(ctx context.Context, op string) error {
				if op != "Renew" && op != "Look" {
					return nil
				}
				if hangs {
					<-ctx.Done()
				}
				return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
			}
			start := time.Now()
			if err := b.roll(context.Background()); relabel.CodeOf(err) != relabel.CodeLeaseLost {
				t.Errorf("error %v", err)
			}
			if took := time.Since(start); took < lease.Default || took > lease.Default+lease.CheckPeriod {
				t.Errorf("stopped after %s", took)
			}
			if p := b.problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

// A process that was stopped and wakes up after its lease sees by its own clock that it
// is over, before the database can be asked.
func TestWorkerThatSleptThroughItsLeaseStopsBeforeItAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.student = talks(relabel.Student, 1, time.Hour)
		asleep := make(chan struct{})
		b.store.before = func(_ context.Context, op string) error {
			if op == "Look" {
				<-asleep // the process, with all its timers, for two leases
			}
			return nil
		}
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		time.Sleep(2 * lease.Default)
		b.store.takenOver()
		close(asleep)
		if err := <-done; relabel.CodeOf(err) != relabel.CodeLeaseLost || b.store.writes != 0 {
			t.Errorf("error %v, %d writes", err, b.store.writes)
		}
		if p := b.problems(); len(p) > 0 {
			t.Error(p)
		}
	})
}

// wantReleased demands that the running turn was finished and committed, and no other begun.
func wantReleased(t *testing.T, b *bench, err error, turns int) {
	t.Helper()
	if !errors.Is(err, ErrReleased) || b.store.state != relabel.Queued {
		t.Errorf("error %v, state %s", err, b.store.state)
	}
	if n := len(b.store.turns[1]); n != turns {
		t.Errorf("%d turns are committed, want %d", n, turns)
	}
	if n := len(b.environment.callsOf(relabel.Student)); n != turns {
		t.Errorf("%d calls for %d turns", n, turns)
	}
	if p := b.problems(); len(p) > 0 {
		t.Error(p)
	}
}

func TestDrainFinishesTheRunningTurnAndReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, 10*time.Second)
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		time.Sleep(15 * time.Second) // in the middle of the second turn
		b.mixer.Drain()
		wantReleased(t, b, <-done, 2)
		b.environment.before = func(_ context.Context, op string) error {
			if op == "student/act" {
				t.Error("a turn was begun while the worker drains")
			}
			return nil
		}
		if err := b.roll(context.Background()); !errors.Is(err, ErrReleased) {
			t.Errorf("claimed while it drains: %v", err)
		}
	})
}

func TestPauseFinishesTheRunningTurnAndReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, 10*time.Second)
		done := make(chan error)
		go func() { done <- b.roll(context.Background()) }()
		time.Sleep(15 * time.Second)
		b.store.mu.Lock()
		b.store.paused = true
		b.store.mu.Unlock()
		wantReleased(t, b, <-done, 2)
	})
}

func TestCutEndsTheRunningTurnAndReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, time.Hour)
		done := make(chan error)
		go func() { done <- work(context.Background(), b) }()
		time.Sleep(time.Second)
		b.mixer.Drain()
		synctest.Wait()
		if b.store.state != relabel.Running {
			t.Errorf("the drain cut the running turn: %s", b.store.state)
		}
		b.mixer.Cut()
		if err := <-done; err != nil || b.store.state != relabel.Queued {
			t.Errorf("error %v, state %s", err, b.store.state)
		}
		if n, err := b.mixer.Wait(context.Background()); n != 1 || err != nil {
			t.Errorf("%d released, %v", n, err)
		}
	})
}
