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
	// Committed reports a turn, and how long its commit took.
	Committed func(turn relabel.Turn, took time.Duration)
	// Settled reports a pending label that has become available or missing.
	Settled func(label relabel.Action)
	// Replayed reports turns that were executed again, and whether all reached the recorded states.
	Replayed func(turns int, same bool)
	// Broke reports that an attempt ended for a reason outside of the agent. again means that
	// another attempt follows.
	Broke func(reason relabel.FailureReason, again bool)
	// Ended reports the phase times of an attempt.
	Ended func(spent relabel.TimeSpent)
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
