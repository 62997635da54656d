package labeller

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

// retryDelay is how long a wake-up waits while the store is unavailable.
const retryDelay = 5 * time.Second

// worker works wake-ups from the queue. A wake-up claims one relabeling or batch that is due; it is over
// when that is processed or none is due.
type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	labeller *Labeller
	work     func(context.Context) error
}

// AddWorkers registers the queue's workers for relabelings and batches.
func AddWorkers(to *river.Workers, l *Labeller) {
	river.AddWorker(to, &worker[relabel.RelabelJob]{labeller: l, work: l.Relabel})
	river.AddWorker(to, &worker[relabel.LabelBatchJob]{labeller: l, work: l.Batch})
}

// Timeout disables the queue's time limit.
func (w *worker[T]) Timeout(*river.Job[T]) time.Duration { return -1 }

// Work does one step. A wake-up whose work was released, or whose store was unavailable, is retried.
func (w *worker[T]) Work(ctx context.Context, _ *river.Job[T]) error {
	err := w.work(ctx)
	switch code := relabel.CodeOf(err); {
	case err == nil, code == relabel.CodeNotFound, code == relabel.CodeLeaseLost:
		return nil
	case errors.Is(err, ErrReleased):
		return river.JobSnooze(0)
	}
	w.labeller.Log.Error().Err(err).Msg("labelling is postponed")
	return river.JobSnooze(retryDelay)
}
