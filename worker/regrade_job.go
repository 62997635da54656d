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

// AddRegrader registers the queue's worker for regradings. A job is a wake-up: it claims one regrading. It is
// retried if its work was released or cannot be done now. The queue must set no time limit for jobs.
func AddRegrader(to *river.Workers, r *Regrader) {
	river.AddWorker(to, river.WorkFunc(func(ctx context.Context, _ *river.Job[relabel.RegradeJob]) error {
		err := r.Regrade(ctx)
		switch code := relabel.CodeOf(err); {
		case err == nil, code == relabel.CodeNotFound, code == relabel.CodeLeaseLost:
			return nil
		case errors.Is(err, ErrReleased):
			return river.JobSnooze(0)
		}
		r.Log.Warn().Err(err).Msg("cannot regrade now; retrying")
		return river.JobSnooze(regradeSnooze)
	}))
}
