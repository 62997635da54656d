package mixer

import (
	"cmp"
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
	mixers map[relabel.TaskKind]*Mixer
}

// NewWorker returns the queue's worker for rollouts. A job is a wake-up: it claims the next
// trajectory, and ends when that needs no slot any more or when no trajectory can be claimed. Each
// release of a trajectory inserts a new wake-up in the same transaction, so none is lost. The client
// that runs it must run Slots.Claims jobs of each mixer's queue concurrently, and no other queue of
// rollouts. Each mixer has another kind of task.
func NewWorker(mixers ...*Mixer) river.Worker[relabel.RolloutJob] {
	w := &worker{mixers: map[relabel.TaskKind]*Mixer{}}
	for _, m := range mixers {
		w.mixers[m.kind] = m
	}
	return w
}

// Timeout disables the queue's timeout: a rollout has its own limits.
func (w *worker) Timeout(*river.Job[relabel.RolloutJob]) time.Duration { return -1 }

// Work rolls a trajectory out. It returns when the rollout has ended; labels and verification
// continue until Cut. If ctx is cancelled, the trajectory is released.
func (w *worker) Work(ctx context.Context, job *river.Job[relabel.RolloutJob]) error {
	mixer := w.mixers[cmp.Or(job.Args.TaskKind, relabel.Repair).Alike()[0]]
	if mixer == nil || mixer.leases.Draining() {
		return river.JobSnooze(0) // for another worker: this one would only release the trajectory
	}
	return mixer.workJob(ctx)
}

// workJob claims a trajectory for a wake-up and rolls it out.
func (m *Mixer) workJob(ctx context.Context) error {
	if m.room != nil && m.room(ctx) != nil {
		return river.JobSnooze(putOff) // the check has logged why
	}
	rolling, cut := context.WithCancel(m.base)
	defer context.AfterFunc(ctx, cut)()
	free, over := make(chan struct{}), make(chan error, 1)
	m.work.Go(func() {
		defer cut()
		err := m.roll(rolling, sync.OnceFunc(func() { close(free) }))
		over <- err
		m.report(err)
	})
	select {
	case <-free:
		return nil
	case err := <-over:
		return snoozeUnlessSettled(err)
	}
}

// roll turns a panic into an error. The rollout itself catches panics in its phases.
func (m *Mixer) roll(ctx context.Context, free func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			m.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("a rollout panicked")
			err = relabel.Errorf(relabel.CodeInternal, "a bug in the rollout; details are in the log")
		}
	}()
	return m.Roll(ctx, free)
}

// settled reports whether err needs neither a log line nor a retry.
func settled(err error) bool {
	code := relabel.CodeOf(err)
	return err == nil || errors.Is(err, ErrReleased) || code == relabel.CodeNotFound || code == relabel.CodeLeaseLost
}

func (m *Mixer) report(err error) {
	if !settled(err) {
		m.log.Error().Err(err).Msg("the store failed; the trajectory returns to the queue when its lease expires at the latest")
	}
}

func snoozeUnlessSettled(err error) error {
	if settled(err) {
		return nil
	}
	return river.JobSnooze(putOff)
}
