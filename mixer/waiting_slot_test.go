package mixer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
)

func TestAnAnswerAfterAnOutageIsExecutedWithoutASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.environment.student = talks(relabel.Student, 3, 20*time.Second)
		b.mixer.rollouts, b.mixer.waitingSlots = newSemaphore(1), newSemaphore(1)
		end := outage(b, relabel.Student)
		time.AfterFunc(10*time.Second, end)
		freed, done := make(chan struct{}), make(chan error, 1)
		go func() { done <- b.mixer.Roll(context.Background(), func() { close(freed) }) }()
		<-freed
		release, err := b.mixer.rollouts.acquire(context.Background(), nil) // another rollout, for an hour
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(b.turns()); n != 1 || b.store.state != relabel.Running {
			t.Errorf("%d turns while another has the slot, %s", n, b.store.state)
		}
		release()
		if err := <-done; err != nil || b.store.state != relabel.Done || b.store.attempt != 1 {
			t.Errorf("error %v, %s in attempt %d", err, b.store.state, b.store.attempt)
		}
		if n := len(b.environment.callsOf(relabel.Student)); n != 3 || b.store.claim.Waited.For != 0 {
			t.Errorf("%d answers for 3 turns, waited %+v", n, b.store.claim.Waited)
		}
		last := b.store.spent[len(b.store.spent)-1]
		if wait := time.Duration(last.Slot) * time.Millisecond; wait < 50*time.Minute || last.Endpoint > 60_000 {
			t.Errorf("%s counted for the slot, %d ms for the endpoint", wait, last.Endpoint)
		}
		if p := b.problems(); len(p) > 0 || len(b.mixer.waitingSlots)+len(b.mixer.rollouts) != 0 {
			t.Error(p)
		}
	})
}

// inFlightFor is a policy whose requests are in flight until their answers come.
func inFlightFor(who relabel.Role, latency time.Duration) func(context.Context, relabel.ChatRequest) (relabel.Completion, error) {
	answer := talks(who, 3, latency)
	return func(ctx context.Context, req relabel.ChatRequest) (relabel.Completion, error) {
		req.Clock.Stop()
		req.Clock.Restart()
		defer req.Clock.Stop()
		return answer(ctx, req)
	}
}

func TestAServerThatAnswersNothingElseMeanwhileIsWaitedForUpToThePolicysTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		places  int
		latency time.Duration
		done    bool
	}{
		"an answer within the timeout":              {1, 90 * time.Second, true},
		"and no place to wait without a slot":       {0, 90 * time.Second, true},
		"no answer within the timeout":              {1, time.Hour, false},
		"no answer, and no place to wait in either": {0, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench("sss", 3)
				b.store.claim.Student.Limits.TimeoutSeconds, b.store.claim.Teacher.Limits.TimeoutSeconds = 100, 100
				b.environment.student = inFlightFor(relabel.Student, c.latency)
				b.mixer.rollouts, b.mixer.waitingSlots = newSemaphore(1), make(semaphore, c.places)
				outage(b, relabel.Student)
				begun := time.Now()
				err := b.roll(context.Background())
				if c.done {
					if err != nil || b.store.state != relabel.Done || b.store.attempt != 1 {
						t.Errorf("error %v, %s in attempt %d", err, b.store.state, b.store.attempt)
					}
					return
				}
				took := time.Since(begun)
				if !errors.Is(err, ErrReleased) || b.store.state != relabel.Queued || took < 99*time.Second || took > 2*time.Minute {
					t.Errorf("error %v after %s, %s", err, took, b.store.state)
				}
				if w := b.store.claim.Waited; w.For > DefaultWait+time.Second {
					t.Errorf("waited %+v: a request in flight is counted", w)
				}
				if p := b.problems(); len(p) > 0 {
					t.Error(p)
				}
			})
		})
	}
}

func TestLabelsInFlightAreWaitedForThoughTheirTeacherCountsAsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("sss", 3)
		b.store.claim.Teacher.Limits.TimeoutSeconds = 100
		b.environment.teacher = inFlightFor(relabel.Teacher, 90*time.Second)
		outage(b, relabel.Teacher)
		if err := b.roll(context.Background()); err != nil || b.store.state != relabel.Done || b.store.pendingLabels() != 0 {
			t.Errorf("error %v, %s, %d labels pending", err, b.store.state, b.store.pendingLabels())
		}
	})
}

func TestACallThatPanicsLeavesNoWatchBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		b := newBench("sss", 3)
		b.environment.student = func(context.Context, relabel.ChatRequest) (relabel.Completion, error) { panic("a bug") }
		outage(b, relabel.Student)
		if err := b.roll(context.Background()); err != nil || b.store.failure != relabel.FailInternal {
			t.Errorf("error %v, failed because of %q", err, b.store.failure)
		}
	})
}
