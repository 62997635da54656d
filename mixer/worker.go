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

// putOff is how long a wake-up waits while the store is away, or there is no room.
const putOff = 5 * time.Second

// worker takes wake-ups from the queue.
type worker struct {
	river.WorkerDefaults[relabel.RolloutJob]
	mixer *Mixer
}

// NewWorker returns the queue's worker for rollouts. A job is a wake-up: it claims the
// trajectory whose turn it is, and is over when that needs no slot any more or when
// nothing is to be claimed. Whatever gives a trajectory back to the queue makes a new
// wake-up in the same transaction, so no number of bad hours discards one. The client
// that runs it is to hand out Slots.Claims jobs at once.
func NewWorker(m *Mixer) river.Worker[relabel.RolloutJob] { return &worker{mixer: m} }

// Timeout says that a rollout has none of the queue's: it has its own limits.
func (w *worker) Timeout(*river.Job[relabel.RolloutJob]) time.Duration { return -1 }

// Work rolls a trajectory out. It returns when the rollout is over; what follows continues
// until Cut. A cancelled ctx gives the trajectory back.
func (w *worker) Work(ctx context.Context, _ *river.Job[relabel.RolloutJob]) error {
	if w.mixer.leases.Draining() {
		return river.JobSnooze(0) // for another worker: what is claimed now would only be given back
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

// roll makes an error of a panic: one in a rollout's own phases is caught there.
func (w *worker) roll(ctx context.Context, free func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.mixer.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a rollout panicked")
			err = relabel.Errorf(relabel.CodeInternal, "a bug in the rollout; details are in the log")
		}
	}()
	return w.mixer.Roll(ctx, free)
}

// settled reports whether err leaves nothing to be said or done.
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
