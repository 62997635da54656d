package mixer

import (
	"context"
	"time"

	"relabel"
	"relabel/lease"
)

// Observe are functions that are told what rollouts do; any may be nil. They are called
// by the rollouts while they wait, from many goroutines at once: they must return at once.
type Observe struct {
	// Started tells how long it took to make a sandbox ready, or to fail in it.
	Started func(took time.Duration, err error)
	// Committed tells of a turn, and how long its commit took.
	Committed func(turn relabel.Turn, took time.Duration)
	// Settled tells of a label that its turn owed, and that is had or missing by now.
	Settled func(label relabel.Action)
	// Replayed tells of turns that were executed again, and whether all came to the
	// recorded states.
	Replayed func(turns int, same bool)
	// Broke tells of a sandbox or verifier that broke and of trajectories that failed for
	// another reason than the agent.
	Broke func(reason relabel.FailureReason, again bool)
	// Ended tells where an attempt's time went.
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
	spent := r.account.sum()
	err := r.write(ctx, func(ctx context.Context) error { return r.store.RecordTime(ctx, r.claim.Fence, spent) })
	if err != nil && !lease.Lost(err) {
		r.log.Warn().Err(err).Msg("where the attempt's time went could not be stored")
	}
}
