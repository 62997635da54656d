package mixer

import (
	"context"
	"time"

	"relabel"
	"relabel/lease"
)

// Observe has functions that are called with events of rollouts; any may be nil. Many goroutines
// call them concurrently and wait for them, so they must return at once.
type Observe struct {
	// Started reports the time that it took to prepare a sandbox, successfully or not.
	Started func(took time.Duration, err error)
	// Committed reports a turn of a trajectory, and how long its commit took.
	Committed func(c relabel.Claim, turn relabel.Turn, took time.Duration)
	// Settled reports a pending label that has become available or missing.
	Settled func(label relabel.Action)
	// Replayed reports turns that were executed again, and whether all reached the recorded states.
	Replayed func(turns int, same bool)
	// Broke reports that an attempt ended for a reason outside of the agent. again means that
	// another attempt follows.
	Broke func(reason relabel.FailureReason, again bool)
	// Ended reports the end of an attempt.
	Ended func(e AttemptEnd)
}

// AttemptEnd describes an attempt that has ended.
type AttemptEnd struct {
	Claim     relabel.Claim
	StartedAt time.Time
	Spent     relabel.TimeSpent
	Reason    relabel.EndReason     // why the rollout ended, in this attempt or an earlier one; "" if it has not
	Failure   relabel.FailureReason // what ended the attempt outside of the agent; "" for nothing
	Err       error                 // nil if the trajectory is done, failed or waits for labels; see Mixer.Roll
}

// tell calls an observer, if it is set.
func tell[T any](observer func(T), value T) {
	if observer != nil {
		observer(value)
	}
}

func tell2[T, U any](observer func(T, U), value T, other U) {
	if observer != nil {
		observer(value, other)
	}
}

// recordTime stores the attempt's phase times just before its end, so that they are visible with the
// end. A failure is only logged.
func (r *rollout) recordTime(ctx context.Context) {
	spent := r.timer.sum()
	err := r.write(ctx, func(ctx context.Context) error { return r.store.RecordTime(ctx, r.claim.Fence, spent) })
	if err != nil && !lease.Lost(err) {
		r.log.Warn().Err(err).Msg("cannot store the attempt's phase times")
	}
}
