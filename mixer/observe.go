package mixer

import (
	"context"
	"time"

	"relabel"
	"relabel/lease"
)

// Observe has functions that are called with events of rollouts; any may be nil. They are called
// by the rollouts while they wait, from many goroutines at once: they must return at once.
type Observe struct {
	// Started reports how long it took to prepare a sandbox, or to fail to.
	Started func(took time.Duration, err error)
	// Committed reports a turn, and how long its commit took.
	Committed func(turn relabel.Turn, took time.Duration)
	// Settled reports a label that its turn owed, and that is available or missing by now.
	Settled func(label relabel.Action)
	// Replayed reports turns that were executed again, and whether all came to the
	// recorded states.
	Replayed func(turns int, same bool)
	// Broke reports a sandbox or verifier that broke and of trajectories that failed for
	// another reason than the agent.
	Broke func(reason relabel.FailureReason, again bool)
	// Ended reports the phase times of an attempt.
	Ended func(spent relabel.TimeSpent)
}

// tell calls an observer, if it is there.
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

// recordTime stores where the attempt's time went, just before it ends: whoever sees the
// end sees that too. Nothing else depends on it, so that it could not be stored is logged.
func (r *rollout) recordTime(ctx context.Context) {
	spent := r.timer.sum()
	err := r.write(ctx, func(ctx context.Context) error { return r.store.RecordTime(ctx, r.claim.Fence, spent) })
	if err != nil && !lease.Lost(err) {
		r.log.Warn().Err(err).Msg("cannot store the attempt's phase times")
	}
}
