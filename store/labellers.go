package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"relabel"
)

// QueueLabel is the queue of relabelings and of batches of labels.
const QueueLabel = "label"

// mostWakeups is how many wake-ups of a kind wait at most: as many as workers could take
// at once, and many more.
const mostWakeups = 1000

// wakeLabellers inserts n wake-ups. One too many is over at once, finding nothing; one
// too few is made good by WakeLabellers.
func (s *Store) wakeLabellers(ctx context.Context, tx pgx.Tx, job river.JobArgs, n int) error {
	if n = min(n, mostWakeups); n <= 0 {
		return nil
	}
	params := make([]river.InsertManyParams, n)
	for i := range params {
		params[i] = river.InsertManyParams{Args: job, InsertOpts: &river.InsertOpts{Queue: QueueLabel}}
	}
	_, err := s.jobs.InsertManyFastTx(ctx, tx, params)
	return err
}

// dueSelect counts what is to be claimed beyond the wake-ups that wait for it.
var dueSelect = `SELECT
	(SELECT count(*)` + relabelingsDue("''") + `)
		- (SELECT count(*) FROM river_job WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'scheduled')),
	(SELECT count(*) FROM label_batches ba WHERE` + batchDue + `)
		- (SELECT count(*) FROM river_job WHERE kind = $2 AND state IN ('available', 'pending', 'retryable', 'scheduled'))`

// WakeLabellers makes as many wake-ups wait as there are relabelings to be claimed and
// batches to be looked after: some are due only by now, and some were lost with their
// workers. It may run at any time, in any number of processes.
func (s *Store) WakeLabellers(ctx context.Context) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// One at a time, or each would make up for the same lack.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' labellers', 0))"); err != nil {
			return err
		}
		var relabelings, batches int
		err := tx.QueryRow(ctx, dueSelect, relabel.RelabelJob{}.Kind(), relabel.LabelBatchJob{}.Kind()).Scan(&relabelings, &batches)
		if err != nil {
			return err
		}
		if err := s.wakeLabellers(ctx, tx, relabel.RelabelJob{}, relabelings); err != nil {
			return err
		}
		return s.wakeLabellers(ctx, tx, relabel.LabelBatchJob{}, batches)
	})
}
