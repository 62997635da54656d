package mixer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"relabel"
)

const (
	// waitGrace is how long an endpoint is down before a rollout that waits for it releases its slot.
	waitGrace = time.Second
	// DefaultWait is how long a rollout without a slot keeps its sandbox while its endpoint is down
	// and no request is in flight. Then its trajectory is released.
	DefaultWait = 45 * time.Second
	// labelWait is the same for a rollout that has ended and waits for labels. It is short because
	// there is no sandbox, and the next attempt replays nothing.
	labelWait = 5 * time.Second
)

// waiting is the error that releases a trajectory because its endpoint is down.
type waiting struct {
	step string
	why  string
	took time.Duration
}

func (w *waiting) Error() string { return w.step + ": the endpoint is down: " + w.why }

// stepOfLabels is the step of a rollout that has ended.
const stepOfLabels = "labels"

func stepOf(t int) string { return fmt.Sprintf("turn %d", t) }

// slot has the functions that release a rollout's slots. One goroutine at a time may use it.
type slot struct {
	releaseSlot    func() // nil while the rollout has no slot
	releaseWaiting func() // of the waiting slot; nil while the rollout has a slot
}

func (s *slot) release() {
	for _, release := range []func(){s.releaseSlot, s.releaseWaiting} {
		if release != nil {
			release()
		}
	}
	s.releaseSlot, s.releaseWaiting = nil, nil
}

// giveUpSlot releases the slot if a waiting slot is free. The queue can then start another job.
func (r *rollout) giveUpSlot() bool {
	releaseWaiting, ok := r.waitingSlots.tryAcquire()
	if !ok {
		return false
	}
	r.slot.releaseSlot()
	r.slot.releaseSlot, r.slot.releaseWaiting = nil, releaseWaiting
	r.free()
	return true
}

// retakeSlot acquires a slot again before the next turn. The turn that waited for the endpoint is
// executed and committed without one. The rollout's clock stops during the wait.
func (r *rollout) retakeSlot(ctx context.Context) error {
	if r.slot.releaseSlot != nil {
		return nil
	}
	defer r.clock.call()()
	r.clock.Stop()
	releaseSlot, err := r.acquire(ctx, r.rollouts)
	if err != nil {
		return err
	}
	r.slot.releaseWaiting()
	r.slot.releaseSlot, r.slot.releaseWaiting = releaseSlot, nil
	return nil
}

// outageWatch watches the endpoint that a rollout waits for.
type outageWatch struct {
	r      *rollout
	policy relabel.Policy
	step   string
	limit  time.Duration // until the trajectory is released
	// giveUp is called when the endpoint has been down for waitGrace. If it returns false, the
	// trajectory is released at once.
	giveUp func() bool
	// flights are the waiting calls. While a request of theirs is in flight the trajectory is kept,
	// up to the policy's timeout: a server may answer nothing else while it generates.
	flights *inFlight

	until  time.Time // when the first request that was in flight past the limit times out
	cancel context.CancelCauseFunc
	stop   chan struct{}
	ended  chan struct{}
}

// watch starts the watch. The context ends with a *waiting as its cause when the trajectory is to be
// released. over stops the watch and waits for its end.
func (w *outageWatch) watch(ctx context.Context) (watched context.Context, over func()) {
	if w.r.environment.Down == nil {
		return ctx, func() {}
	}
	watched, w.cancel = context.WithCancelCause(ctx)
	w.stop, w.ended = make(chan struct{}), make(chan struct{})
	go w.run()
	return watched, sync.OnceFunc(func() {
		close(w.stop)
		<-w.ended
		w.cancel(nil)
		w.r.timer.waitsFor("")
	})
}

func (w *outageWatch) run() {
	defer close(w.ended)
	left, gaveUp := w.limit, false
	for {
		why, changed := w.r.environment.Down(w.policy)
		w.r.timer.waitsFor(why)
		var timer <-chan time.Time
		since := time.Now()
		switch {
		case why == "":
		case gaveUp:
			timer = time.After(left)
		default:
			timer = time.After(min(waitGrace, w.limit))
		}
		select {
		case <-w.stop:
			return
		case <-changed:
			if gaveUp && why != "" {
				left = max(left-time.Since(since), 0)
			}
		case <-timer:
			switch {
			case !gaveUp && w.giveUp():
				gaveUp = true
			case !w.mayBeAnswered():
				w.cancel(&waiting{step: w.step, why: why, took: w.limit - left + time.Since(since)})
				return
			case gaveUp:
				left = waitGrace // until the next check
			}
		}
	}
}

// mayBeAnswered reports whether a request is in flight or has just been answered. It is false after
// the timeout of the first such request.
func (w *outageWatch) mayBeAnswered() bool {
	since, ok := w.flights.oldest()
	if !ok && !w.flights.justEnded() {
		return false
	}
	if w.until.IsZero() {
		w.until = since.Add(time.Duration(w.policy.Limits.TimeoutSeconds) * time.Second)
	}
	return time.Now().Before(w.until)
}

// besideExecutor watches the executor's endpoint during its call of turn t, and gives up the slot if
// the endpoint is down.
func (r *rollout) besideExecutor(ctx context.Context, t int, p relabel.Policy, flights *inFlight) (context.Context, func()) {
	return (&outageWatch{r: r, policy: p, step: stepOf(t), limit: r.wait, giveUp: r.giveUpSlot, flights: flights}).watch(ctx)
}

// besideTeacher watches the teacher's endpoint while a rollout that has ended waits for labels. After
// a wait as long as the teacher's patience the trajectory is kept, and its calls fail.
func (r *rollout) besideTeacher(ctx context.Context) (context.Context, func()) {
	if r.timer.requested.Load() == 0 || r.patienceOver(stepOfLabels, r.claim.Teacher) {
		return ctx, func() {}
	}
	return (&outageWatch{r: r, policy: r.claim.Teacher, step: stepOfLabels, limit: labelWait, giveUp: func() bool { return true }, flights: &r.labels.flights}).watch(ctx)
}

// patienceOver reports whether earlier attempts waited at the step for the policy's patience.
func (r *rollout) patienceOver(step string, p relabel.Policy) bool {
	return r.claim.Waited.Step == step && r.claim.Waited.For >= time.Duration(p.Limits.PatienceSeconds)*time.Second
}

// executorAt is the policy that acts at a step of the current turn; nil if none does.
func (r *rollout) executorAt(step string) *relabel.Policy {
	t := r.timer.currentTurn()
	if t == 0 || step != stepOf(t) {
		return nil
	}
	return new(r.versionOf(r.claim.Trajectory.Executors.At(t)))
}
