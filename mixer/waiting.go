package mixer

import (
	"context"
	"fmt"
	"time"

	"relabel"
)

const (
	// waitGrace is how long an endpoint is down before what waits for it gives its slot up.
	waitGrace = time.Second
	// DefaultWait is how long a rollout without a slot waits for its endpoint beside its
	// sandbox, and for a slot when the endpoint is back. Then it is given back to the queue.
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

// seat is a rollout's slot, which it may give up for a while. Only one goroutine at a time
// may use it.
type seat struct {
	leave  func() // of the slot; nil while it has none
	parked func() // of the place among those that wait without one; nil while it has a slot
}

// up gives up everything.
func (s *seat) up() {
	for _, leave := range []func(){s.leave, s.parked} {
		if leave != nil {
			leave()
		}
	}
	s.leave, s.parked = nil, nil
}

// stand gives the slot up, where there is a place among those that wait without one. The
// queue hands out another job in its stead.
func (r *rollout) stand() bool {
	parked, ok := r.parked.tryTake()
	if !ok {
		return false
	}
	r.seat.leave()
	r.seat.leave, r.seat.parked = nil, parked
	r.free()
	return true
}

// sit takes a slot again, in the order of those that want one. The clock of the rollout
// stands meanwhile.
func (r *rollout) sit(ctx context.Context, t int) error {
	if r.seat.leave != nil {
		return nil
	}
	r.clock.Stop()
	begun := time.Now()
	defer func() { r.account.waited(relabel.PhaseSlot, time.Since(begun)) }() // the endpoint's doing
	sitting, cancel := context.WithTimeoutCause(ctx, r.wait, &waiting{step: stepOf(t), why: "it is back, and no slot became free", took: r.wait})
	defer cancel()
	leave, err := r.take(sitting, r.rollouts)
	if err != nil {
		return err
	}
	r.seat.parked()
	r.seat.leave, r.seat.parked = leave, nil
	return nil
}

// vigil watches whether a policy that a rollout waits for is down.
type vigil struct {
	r      *rollout
	policy relabel.Policy
	step   string
	limit  time.Duration // until the trajectory is given back
	// down is called when the policy has been down for waitGrace; where it is false, the
	// trajectory is given back at once.
	down func() bool

	give  context.CancelCauseFunc
	stop  chan struct{}
	ended chan struct{}
}

// watch begins a vigil. The context ends with a *waiting as its cause when the trajectory is
// to be given back. over ends it; after that nothing of it happens any more.
func (v *vigil) watch(ctx context.Context) (watched context.Context, over func()) {
	if v.r.world.Down == nil {
		return ctx, func() {}
	}
	watched, v.give = context.WithCancelCause(ctx)
	v.stop, v.ended = make(chan struct{}), make(chan struct{})
	go v.run()
	return watched, func() {
		close(v.stop)
		<-v.ended
		v.give(nil)
		v.r.account.waitsFor("")
	}
}

func (v *vigil) run() {
	defer close(v.ended)
	left, stood := v.limit, false
	for {
		why, changed := v.r.world.Down(v.policy)
		v.r.account.waitsFor(why)
		var timer <-chan time.Time
		since := time.Now()
		switch {
		case why == "":
		case stood:
			timer = time.After(left)
		default:
			timer = time.After(min(waitGrace, v.limit))
		}
		select {
		case <-v.stop:
			return
		case <-changed:
			if stood && why != "" {
				left = max(left-time.Since(since), 0)
			}
		case <-timer:
			if !stood && v.down() {
				stood = true
				continue
			}
			v.give(&waiting{step: v.step, why: why, took: v.limit - left + time.Since(since)})
			return
		}
	}
}

// besideExecutor watches while the executor of turn t is asked: its slot is given up when
// its endpoint is down.
func (r *rollout) besideExecutor(ctx context.Context, t int, p relabel.Policy) (context.Context, func()) {
	return (&vigil{r: r, policy: p, step: stepOf(t), limit: r.wait, down: r.stand}).watch(ctx)
}

// besideTeacher watches while a rollout that is over waits for labels. A trajectory that
// has waited for as long as its teacher's patience says stays, and its calls end by that.
func (r *rollout) besideTeacher(ctx context.Context) (context.Context, func()) {
	if r.account.askedFor() == 0 || r.patienceOver(stepOfLabels, r.claim.Teacher) {
		return ctx, func() {}
	}
	return (&vigil{r: r, policy: r.claim.Teacher, step: stepOfLabels, limit: labelWait, down: func() bool { return true }}).watch(ctx)
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
		if t := r.account.turnInHand(); t > 0 && step == stepOf(t) && r.claim.Trajectory.Executors.At(t) == executor.role {
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
	step := stepOf(r.account.turnInHand())
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
