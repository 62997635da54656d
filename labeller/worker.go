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

// AddWorkers registers the queue's workers for relabelings, scorings, judgings and batches. A job is a wake-up: it
// claims one of them that is due. The queue must set no time limit for jobs.
func AddWorkers(to *river.Workers, l *Labeller) {
	river.AddWorker(to, river.WorkFunc(func(ctx context.Context, _ *river.Job[relabel.RelabelJob]) error {
		return l.wokenUp(l.Relabel(ctx))
	}))
	river.AddWorker(to, river.WorkFunc(func(ctx context.Context, _ *river.Job[relabel.ScoreJob]) error {
		return l.wokenUp(l.Score(ctx))
	}))
	river.AddWorker(to, river.WorkFunc(func(ctx context.Context, _ *river.Job[relabel.JudgeJob]) error {
		return l.wokenUp(l.Judge(ctx))
	}))
	river.AddWorker(to, river.WorkFunc(func(ctx context.Context, _ *river.Job[relabel.LabelBatchJob]) error {
		return l.wokenUp(l.Batch(ctx))
	}))
}

// wokenUp is the result of a wake-up. It is retried if its work was released or the store was unavailable.
func (l *Labeller) wokenUp(err error) error {
	switch code := relabel.CodeOf(err); {
	case err == nil, code == relabel.CodeNotFound, code == relabel.CodeLeaseLost:
		return nil
	case errors.Is(err, ErrReleased):
		return river.JobSnooze(0)
	}
	l.Log.Error().Err(err).Msg("labelling is postponed")
	return river.JobSnooze(retryDelay)
}
