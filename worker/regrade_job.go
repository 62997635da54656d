package worker

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"relabel"
)

// regradeSnooze is how long a wake-up waits while the store or an engine is unavailable.
const regradeSnooze = 5 * time.Second

// regradeWorker takes wake-ups from the queue. A wake-up claims one regrading.
type regradeWorker struct {
	river.WorkerDefaults[relabel.RegradeJob]
	regrader *Regrader
}

// AddRegrader registers the queue's worker for regradings.
func AddRegrader(to *river.Workers, r *Regrader) { river.AddWorker(to, &regradeWorker{regrader: r}) }

// Timeout disables the queue's time limit: the verifier bounds a regrading.
func (w *regradeWorker) Timeout(*river.Job[relabel.RegradeJob]) time.Duration { return -1 }

// Work grades one submission. A wake-up whose work was released is retried.
func (w *regradeWorker) Work(ctx context.Context, _ *river.Job[relabel.RegradeJob]) error {
	err := w.regrader.Regrade(ctx)
	switch code := relabel.CodeOf(err); {
	case err == nil, code == relabel.CodeNotFound, code == relabel.CodeLeaseLost:
		return nil
	case errors.Is(err, ErrReleased):
		return river.JobSnooze(0)
	}
	w.regrader.Log.Warn().Err(err).Msg("cannot regrade now; retrying")
	return river.JobSnooze(regradeSnooze)
}
