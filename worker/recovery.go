package worker

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// recoveryPeriod is the time between two searches for abandoned work and sandboxes.
const recoveryPeriod = 5 * time.Second

// RecoveryStore keeps workers and their claims. Methods are safe for concurrent use.
type RecoveryStore interface {
	// SeeWorker records that a worker is alive.
	SeeWorker(ctx context.Context, w relabel.Worker) error
	// ReadClock compares this machine's clock with the database's.
	ReadClock(ctx context.Context) error
	// TakeTurn reports whether this process is the one that works for all in this period.
	TakeTurn(ctx context.Context, period time.Duration) (mine bool, err error)
	// RecoverGone requeues what dead workers of this machine left; RecoverAbandoned also
	// trajectories whose lease expired.
	RecoverGone(ctx context.Context, dead func(owner string) bool) ([]relabel.Recovered, error)
	RecoverAbandoned(ctx context.Context, dead func(owner string) bool) ([]relabel.Recovered, error)
	// BeginLabelling queues deferred labels whose iteration has no rollouts left.
	BeginLabelling(ctx context.Context) error
	// WakeLabellers and WakeRegraders replace lost wake-ups of relabelings, batches and
	// regradings.
	WakeLabellers(ctx context.Context) error
	WakeRegraders(ctx context.Context) error
}

// RecoveryConfig is what a Recovery needs.
type RecoveryConfig struct {
	Store RecoveryStore
	Self  func() relabel.Worker // this process as other processes see it
	// TakenOver receives the number of trajectories that a run requeued.
	TakenOver func(n int)
	Log       zerolog.Logger
}

// Recovery publishes that this process is alive and requeues the work of dead ones. Each
// process checks its own machine; one process at a time checks for expired leases and lost
// wake-ups of all.
type Recovery struct {
	RecoveryConfig
	periodic
}

// NewRecovery returns a Recovery. Call RunNow before the first Start.
func NewRecovery(c RecoveryConfig) (*Recovery, error) {
	r := &Recovery{RecoveryConfig: c}
	r.periodic = periodic{Task: Task{Period: recoveryPeriod, Delayed: true, Run: r.RunNow, Failure: "cannot recover abandoned work", Log: c.Log}}
	return r, require("recovery", requirement{"Store", c.Store != nil}, requirement{"Self", c.Self != nil},
		requirement{"TakenOver", c.TakenOver != nil})
}

// RunNow publishes this process and recovers abandoned work once.
func (r *Recovery) RunNow(ctx context.Context) error {
	return errors.Join(r.Store.SeeWorker(ctx, r.Self()), r.Store.ReadClock(ctx), r.recover(ctx))
}

func (r *Recovery) recover(ctx context.Context) error {
	mine, err := r.Store.TakeTurn(ctx, recoveryPeriod/2)
	if err != nil {
		return err
	}
	requeue := r.Store.RecoverGone
	if mine {
		requeue = r.Store.RecoverAbandoned
	}
	recovered, err := requeue(ctx, IsGone)
	if err != nil {
		return err
	}
	r.TakenOver(len(recovered))
	for _, t := range recovered {
		r.Log.Warn().Stringer("trajectory", t.TrajectoryID).Int("attempt", t.Attempt).Str("owner", t.Owner).
			Msg("worker is gone: requeued its trajectory")
	}
	if !mine {
		return nil
	}
	return errors.Join(r.Store.BeginLabelling(ctx), r.Store.WakeLabellers(ctx), r.Store.WakeRegraders(ctx))
}
