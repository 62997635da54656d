package mixer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

func TestAFaultThatComesAgainAndAgainFailsTheTrajectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.store.before = func(_ context.Context, op string) error {
			if op == "CommitTurn" {
				return relabel.Errorf(relabel.CodeUnavailable, "the row is refused")
			}
			return nil
		}
		for range 2 {
			if err := b.roll(context.Background()); relabel.CodeOf(err) != relabel.CodeUnavailable || b.store.state != relabel.Queued {
				t.Fatalf("error %v, %s", err, b.store.state)
			}
		}
		if err := b.roll(context.Background()); err != nil || b.store.state != relabel.Failed || b.store.failure != relabel.FailInternal {
			t.Errorf("error %v, %s because of %q: %q", err, b.store.state, b.store.failure, b.store.detail)
		}
		if p := b.problems(); len(p) > 0 {
			t.Error(p)
		}
	})
}

// outage makes policies of a role be down until its end.
func outage(b *bench, role relabel.Role) (end func()) {
	var up atomic.Bool
	changed := make(chan struct{})
	b.mixer.environment.Down = func(p relabel.Policy) (string, <-chan struct{}) {
		if up.Load() || relabel.Role(p.Name) != role {
			return "", nil // for good
		}
		return "http://dead/v1: refused", changed
	}
	return func() {
		up.Store(true)
		close(changed)
	}
}

func TestWhatWaitsForAnEndpointGivesItsSlotAndThenItsSandboxBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, time.Hour)
		b.mixer.rollouts, b.mixer.waitingSlots = newSemaphore(1), newSemaphore(1)
		outage(b, relabel.Student)
		freed := make(chan struct{})
		done := make(chan error, 1)
		go func() { done <- b.mixer.Roll(context.Background(), func() { close(freed) }) }()
		<-freed
		if len(b.mixer.rollouts) != 0 || len(b.mixer.waitingSlots) != 1 || b.environment.opened-b.environment.closed != 1 {
			t.Errorf("%d slots, %d places", len(b.mixer.rollouts), len(b.mixer.waitingSlots))
		}
		if doing := b.mixer.Activity(); len(doing) != 1 || doing[0].WaitsFor == "" {
			t.Errorf("it does %+v", doing)
		}
		if err := <-done; !errors.Is(err, ErrReleased) || b.store.state != relabel.Queued || b.store.broke != 0 {
			t.Errorf("error %v, %s", err, b.store.state)
		}
		if w := b.store.claim.Waited; w.Step != "turn 1" || w.For < DefaultWait {
			t.Errorf("waited %+v", w)
		}
		if p := b.problems(); len(p) > 0 || len(b.mixer.waitingSlots) != 0 {
			t.Error(p, len(b.mixer.waitingSlots))
		}
	})
}

func TestAnEndpointThatComesBackFindsItsRolloutInASlotAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, 20*time.Second)
		b.mixer.rollouts, b.mixer.waitingSlots = newSemaphore(1), newSemaphore(1)
		end := outage(b, relabel.Student)
		time.AfterFunc(10*time.Second, end)
		if err := b.roll(context.Background()); err != nil || b.store.state != relabel.Done || b.store.attempt != 1 {
			t.Errorf("error %v, %s in attempt %d", err, b.store.state, b.store.attempt)
		}
		if p := b.problems(); len(p) > 0 || len(b.mixer.waitingSlots)+len(b.mixer.rollouts) != 0 {
			t.Error(p)
		}
	})
}

func TestAllAttemptsTogetherWaitForThePoliciesPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.store.claim.Student.Limits.PatienceSeconds = 100
		b.environment.student = talks(relabel.Student, 3, time.Hour)
		outage(b, relabel.Student)
		for n := 0; ; n++ {
			err := b.roll(context.Background())
			if b.store.state == relabel.Failed {
				if err != nil || b.store.failure != relabel.FailEndpoint || n != 3 {
					t.Errorf("error %v after %d attempts: %q", err, n, b.store.detail)
				}
				return
			}
			if !errors.Is(err, ErrReleased) || n > 5 {
				t.Fatalf("error %v, %s", err, b.store.state)
			}
		}
	})
}

func TestARolloutThatIsOverDoesNotHoldAPlaceForADeadTeacher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.teacher = talks(relabel.Teacher, 3, time.Hour)
		outage(b, relabel.Teacher)
		begun := time.Now()
		if err := b.roll(context.Background()); !errors.Is(err, ErrReleased) || b.store.state != relabel.Queued || b.store.ending == nil {
			t.Errorf("error %v, %s", err, b.store.state)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("released after %s", took)
		}
		if b.store.pendingLabels() != 3 || b.store.claim.Waited.Step != stepOfLabels {
			t.Errorf("%d labels pending, waited %+v", b.store.pendingLabels(), b.store.claim.Waited)
		}
		if p := b.problems(); len(p) > 0 {
			t.Error(p)
		}
	})
}
