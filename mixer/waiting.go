package mixer

import (
	"context"
	"fmt"
	"sync"
	"time"

	"relabel"
)

const (
	// waitGrace is how long an endpoint is down before what waits for it gives its slot up.
	waitGrace = time.Second
	// DefaultWait is how long a rollout without a slot waits for its endpoint beside its
	// sandbox while no request of it is in flight. Then it is given back to the queue.
	DefaultWait = 45 * time.Second
	// labelWait is how long a rollout that is over waits for a teacher that is down: it has
	// no sandbox, and whoever claims it next replays nothing.
	labelWait = 5 * time.Second
)

// waiting gives a trajectory back because its endpoint is down.
type waiting struct {
	step string
	why  string
	took time.Duration
}

func (w *waiting) Error() string { return w.step + ": the endpoint is down: " + w.why }

// stepOfLabels is the step of a rollout that is over.
const stepOfLabels = "labels"

func stepOf(t int) string { return fmt.Sprintf("turn %d", t) }

// slot is a rollout's slot, which it may give up for a while. Only one goroutine at a time
// may use it.
type slot struct {
	releaseSlot    func() // nil while the rollout has no slot
	releaseWaiting func() // releases the waiting slot; nil while the rollout has a slot
}

// release releases both.
func (s *slot) release() {
	for _, release := range []func(){s.releaseSlot, s.releaseWaiting} {
		if release != nil {
			release()
		}
	}
	s.releaseSlot, s.releaseWaiting = nil, nil
}

// giveUpSlot releases the slot if a waiting slot is free. The queue then starts another job.
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

// retakeSlot takes a slot again before the next turn, in the order of those that want one.
// The turn for which it was given up is committed by then: an answer that came is executed
// without a slot. The rollout's clock is stopped during the wait.
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

// outageWatch watches whether a policy that a rollout waits for is down.
type outageWatch struct {
	r      *rollout
	policy relabel.Policy
	step   string
	limit  time.Duration // until the trajectory is given back
	// giveUp is called when the policy has been down for waitGrace; where it is false, the
	// trajectory is given back at once.
	giveUp func() bool
	// flights are the calls that wait. While a request of theirs is in flight nothing is given
	// back, up to the policy's own timeout: a server may answer nothing else meanwhile.
	flights *inFlight

	until time.Time // when the first request that was in flight past the limit times out
	give  context.CancelCauseFunc
	stop  chan struct{}
	ended chan struct{}
}

// watch begins it. The context ends with a *waiting as its cause when the trajectory is to be
// given back. over ends the watch; after that nothing of it happens any more.
func (w *outageWatch) watch(ctx context.Context) (watched context.Context, over func()) {
	if w.r.environment.Down == nil {
		return ctx, func() {}
	}
	watched, w.give = context.WithCancelCause(ctx)
	w.stop, w.ended = make(chan struct{}), make(chan struct{})
	go w.run()
	return watched, sync.OnceFunc(func() {
		close(w.stop)
		<-w.ended
		w.give(nil)
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
				w.give(&waiting{step: w.step, why: why, took: w.limit - left + time.Since(since)})
				return
			case gaveUp:
				left = waitGrace // to look again
			}
		}
	}
}

// mayBeAnswered reports whether a request is in flight or has just been answered, and the first
// one that it found so has not reached the policy's timeout.
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

// besideExecutor watches while the executor of turn t is asked: its slot is given up when
// its endpoint is down.
func (r *rollout) besideExecutor(ctx context.Context, t int, p relabel.Policy, flights *inFlight) (context.Context, func()) {
	return (&outageWatch{r: r, policy: p, step: stepOf(t), limit: r.wait, giveUp: r.giveUpSlot, flights: flights}).watch(ctx)
}

// besideTeacher watches while a rollout that is over waits for labels. A trajectory that
// has waited for as long as its teacher's patience says stays, and its calls end by that.
func (r *rollout) besideTeacher(ctx context.Context) (context.Context, func()) {
	if r.timer.askedFor() == 0 || r.patienceOver(stepOfLabels, r.claim.Teacher) {
		return ctx, func() {}
	}
	return (&outageWatch{r: r, policy: r.claim.Teacher, step: stepOfLabels, limit: labelWait, giveUp: func() bool { return true }, flights: &r.labels.flights}).watch(ctx)
}

// patienceOver reports whether earlier attempts waited at the step for as long as the
// policy's patience.
func (r *rollout) patienceOver(step string, p relabel.Policy) bool {
	return r.claim.Waited.Step == step && r.claim.Waited.For >= time.Duration(p.Limits.PatienceSeconds)*time.Second
}

// releaseWaiting gives the trajectory back to wait in the queue. It costs no attempt. Where
// all attempts together have waited for longer than the policy's patience, it fails.
func (r *rollout) releaseWaiting(ctx context.Context, w *waiting) error {
	if executor := r.executorAt(w.step); executor != nil && r.patienceOver(w.step, *executor) {
		return r.fail(ctx, &failure{reason: relabel.FailEndpoint, cause: w,
			detail: fmt.Sprintf("%s: the endpoint was down for longer than the policy's patience of %d s, over all attempts", executor.Name, executor.Limits.PatienceSeconds)})
	}
	r.recordTime(ctx)
	err := r.write(ctx, func(ctx context.Context) error {
		return r.store.ReleaseWaiting(ctx, r.claim.Fence, relabel.Wait{Step: w.step, For: w.took}, w.why)
	})
	return r.released(err, w)
}

// executorAt is the policy that acts at a step; nil where none does.
func (r *rollout) executorAt(step string) *relabel.Policy {
	for _, executor := range []struct {
		role   relabel.Role
		policy *relabel.Policy
	}{{relabel.Teacher, &r.claim.Teacher}, {relabel.Student, &r.claim.Student}} {
		if t := r.timer.currentTurn(); t > 0 && step == stepOf(t) && r.claim.Trajectory.Executors.At(t) == executor.role {
			return executor.policy
		}
	}
	return nil
}

// releaseFault gives the trajectory back after a fault of the store's that may be transient.
// One that repeats at the same step is not: it fails the trajectory.
func (r *rollout) releaseFault(ctx context.Context, fault error) error {
	r.recordTime(ctx)
	var again bool
	step := stepOf(r.timer.currentTurn())
	err := r.write(ctx, func(ctx context.Context) (err error) {
		again, err = r.store.ReleaseFault(ctx, r.claim.Fence, step, fault)
		return err
	})
	if err == nil && !again {
		return r.fail(ctx, &failure{reason: relabel.FailInternal, cause: fault,
			detail: "the same fault came again and again at " + step + ": " + relabel.Shown(fault)})
	}
	return r.released(err, fault)
}
