package mixer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

func work(ctx context.Context, b *bench) error {
	return NewWorker(b.mixer).Work(ctx, &river.Job[relabel.RolloutJob]{})
}

// wait waits until everything that jobs began is over.
func wait(t *testing.T, b *bench) {
	t.Helper()
	if _, err := b.mixer.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantSnooze demands that the job was put off for d, which counts no failure.
func wantSnooze(t *testing.T, err error, d time.Duration) {
	t.Helper()
	var snooze *river.JobSnoozeError
	if !errors.As(err, &snooze) || snooze.Duration != d {
		t.Errorf("%v; want it put off for %s", err, d)
	}
}

func TestJobIsOverWithItsTrajectoryAndWhenThereIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		if err := work(t.Context(), b); err != nil {
			t.Error(err)
		}
		if wait(t, b); b.store.state != relabel.Done {
			t.Errorf("state %s", b.store.state)
		}
		if err := work(t.Context(), b); err != nil || b.store.attempt != 1 {
			t.Errorf("%v, attempt %d", err, b.store.attempt)
		}
	})
}

// The teacher takes an hour for the last label; the queue's slot is free by then.
func TestJobIsOverWithItsRollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, time.Second)
		b.environment.teacher = talks(relabel.Teacher, 3, time.Hour)
		start := time.Now()
		if err := work(t.Context(), b); err != nil || b.store.state != relabel.Labelling {
			t.Errorf("%v, %s", err, b.store.state)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the slot was held for %s", took)
		}
		if wait(t, b); b.store.state != relabel.Done || b.store.pendingLabels() != 0 {
			t.Errorf("%s, %d labels pending", b.store.state, b.store.pendingLabels())
		}
	})
}

func TestJobOfAFailedRolloutIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.startErr = relabel.Errorf(relabel.CodeImageMissing, "no image")
		if err := work(t.Context(), b); err != nil || b.store.state != relabel.Failed {
			t.Errorf("%v, %s", err, b.store.state)
		}
	})
}

func TestJobThatIsCutGivesItsTrajectoryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.student = talks(relabel.Student, 1, time.Hour)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		// The release has made a wake-up of its own.
		if err := work(ctx, b); err != nil || b.store.state != relabel.Queued {
			t.Errorf("%v, %s", err, b.store.state)
		}
	})
}

func TestJobOfACancelledTrajectoryIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.environment.execute = func(context.Context, int, relabel.Message) error { b.store.cancelled(); return nil }
		if err := work(t.Context(), b); err != nil || b.store.state != relabel.Cancelled {
			t.Errorf("%v, %s", err, b.store.state)
		}
	})
}

func TestJobIsPutOffWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.store.before = func(context.Context, string) error {
			return relabel.Errorf(relabel.CodeUnavailable, "the database does not answer")
		}
		wantSnooze(t, work(t.Context(), b), putOff)
	})
}

func TestAWorkerThatDrainsLeavesItsWakeUpsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("s", 1)
		b.mixer.Drain()
		wantSnooze(t, work(t.Context(), b), 0)
		if b.store.attempt != 0 || b.environment.opened != 0 {
			t.Errorf("%d attempts, %d sandboxes", b.store.attempt, b.environment.opened)
		}
	})
}

func TestQueueSetsRolloutsNoTimeLimit(t *testing.T) {
	if d := NewWorker(newBench("s", 1).mixer).Timeout(nil); d != -1 {
		t.Errorf("time limit %s", d)
	}
}
