package regrader

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

// snooze is how long a wake-up waits while the store or an engine is unavailable.
const snooze = 5 * time.Second

// worker takes wake-ups from the queue. A wake-up claims one regrading.
type worker struct {
	river.WorkerDefaults[relabel.RegradeJob]
	regrader *Regrader
}

// AddWorker registers the queue's worker.
func AddWorker(to *river.Workers, r *Regrader) { river.AddWorker(to, &worker{regrader: r}) }

// Timeout says that a regrading has none of the queue's: the verifier bounds it.
func (w *worker) Timeout(*river.Job[relabel.RegradeJob]) time.Duration { return -1 }

// Work grades one submission. A wake-up whose work was released comes again.
func (w *worker) Work(ctx context.Context, _ *river.Job[relabel.RegradeJob]) error {
	err := w.regrader.Regrade(ctx)
	switch code := relabel.CodeOf(err); {
	case err == nil, code == relabel.CodeNotFound, code == relabel.CodeLeaseLost:
		return nil
	case errors.Is(err, ErrReleased):
		return river.JobSnooze(0)
	}
	w.regrader.Log.Warn().Err(err).Msg("regrading waits")
	return river.JobSnooze(snooze)
}
