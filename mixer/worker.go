package mixer

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

// putOff postpones a wake-up while the store is unavailable, or no new work may be claimed.
const putOff = 5 * time.Second

// worker processes wake-ups of the queue.
type worker struct {
	river.WorkerDefaults[relabel.RolloutJob]
	mixer *Mixer
}

// NewWorker returns the queue's worker for rollouts. A job is a wake-up: it claims the next
// trajectory, and ends when that needs no slot any more or when no trajectory can be claimed. Each
// release of a trajectory inserts a new wake-up in the same transaction, so none is lost. The client
// that runs it must run Slots.Claims jobs concurrently.
func NewWorker(m *Mixer) river.Worker[relabel.RolloutJob] { return &worker{mixer: m} }

// Timeout disables the queue's timeout: a rollout has its own limits.
func (w *worker) Timeout(*river.Job[relabel.RolloutJob]) time.Duration { return -1 }

// Work rolls a trajectory out. It returns when the rollout has ended; labels and verification
// continue until Cut. If ctx is cancelled, the trajectory is released.
func (w *worker) Work(ctx context.Context, _ *river.Job[relabel.RolloutJob]) error {
	if w.mixer.leases.Draining() {
		return river.JobSnooze(0) // for another worker: this one would only release the trajectory
	}
	if w.mixer.room != nil && w.mixer.room(ctx) != nil {
		return river.JobSnooze(putOff) // the check has logged why
	}
	rolling, cut := context.WithCancel(w.mixer.base)
	defer context.AfterFunc(ctx, cut)()
	free, over := make(chan struct{}), make(chan error, 1)
	w.mixer.work.Go(func() {
		defer cut()
		err := w.roll(rolling, sync.OnceFunc(func() { close(free) }))
		over <- err
		w.report(err)
	})
	select {
	case <-free:
		return nil
	case err := <-over:
		return w.verdict(err)
	}
}

// roll turns a panic into an error. The rollout itself catches panics in its phases.
func (w *worker) roll(ctx context.Context, free func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.mixer.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a rollout panicked")
			err = relabel.Errorf(relabel.CodeInternal, "a bug in the rollout; details are in the log")
		}
	}()
	return w.mixer.Roll(ctx, free)
}

// settled reports whether err needs neither a log line nor a retry.
func settled(err error) bool {
	code := relabel.CodeOf(err)
	return err == nil || errors.Is(err, ErrReleased) || code == relabel.CodeNotFound || code == relabel.CodeLeaseLost
}

func (w *worker) report(err error) {
	if !settled(err) {
		w.mixer.log.Error().Err(err).Msg("the store failed; the trajectory returns to the queue when its lease expires at the latest")
	}
}

func (w *worker) verdict(err error) error {
	if settled(err) {
		return nil
	}
	return river.JobSnooze(putOff)
}
