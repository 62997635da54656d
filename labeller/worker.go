package labeller

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

// putOff is how long a wake-up waits while the store is away.
const putOff = 5 * time.Second

// relabelWorker takes the wake-ups of relabelings from the queue.
type relabelWorker struct {
	river.WorkerDefaults[relabel.RelabelJob]
	labeller *Labeller
}

// batchWorker takes those of batches.
type batchWorker struct {
	river.WorkerDefaults[relabel.LabelBatchJob]
	labeller *Labeller
}

// AddWorkers registers the queue's workers for relabelings and batches. A job is a
// wake-up: it claims what is due, and is over when that is worked off or nothing is.
func AddWorkers(to *river.Workers, l *Labeller) {
	river.AddWorker(to, &relabelWorker{labeller: l})
	river.AddWorker(to, &batchWorker{labeller: l})
}

// Timeout says that a relabeling has none of the queue's.
func (w *relabelWorker) Timeout(*river.Job[relabel.RelabelJob]) time.Duration { return -1 }

// Timeout says that a batch has none of the queue's.
func (w *batchWorker) Timeout(*river.Job[relabel.LabelBatchJob]) time.Duration { return -1 }

// Work relabels one trajectory.
func (w *relabelWorker) Work(ctx context.Context, _ *river.Job[relabel.RelabelJob]) error {
	return w.labeller.verdict(w.labeller.Relabel(ctx))
}

// Work takes one batch a step further.
func (w *batchWorker) Work(ctx context.Context, _ *river.Job[relabel.LabelBatchJob]) error {
	return w.labeller.verdict(w.labeller.Batch(ctx))
}

// verdict is what becomes of the wake-up: one whose work was given back, or whose store
// was away, comes again.
func (l *Labeller) verdict(err error) error {
	switch code := relabel.CodeOf(err); {
	case err == nil, code == relabel.CodeNotFound, code == relabel.CodeLeaseLost:
		return nil
	case errors.Is(err, ErrReleased):
		return river.JobSnooze(0)
	}
	l.Log.Error().Err(err).Msg("labelling is postponed")
	return river.JobSnooze(putOff)
}
