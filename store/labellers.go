package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"relabel"
)

// QueueLabel is the queue of relabelings and of batches of labels.
const QueueLabel = "label"

// mostWakeups bounds the waiting wake-ups of a kind: far more than workers can take at once.
const mostWakeups = 1000

// wakeLabellers inserts n wake-ups. A surplus one ends at once; WakeLabellers adds missing
// ones.
func (s *Store) wakeLabellers(ctx context.Context, tx pgx.Tx, job river.JobArgs, n int) error {
	return s.insertWakeups(ctx, tx, QueueLabel, job, min(n, mostWakeups))
}

// dueSelect counts what can be claimed beyond the waiting wake-ups.
var dueSelect = `SELECT
	(SELECT count(*)` + relabelingsDue("''") + `)
		- (SELECT count(*) FROM river_job WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'scheduled')),
	(SELECT count(*) FROM label_batches ba WHERE` + batchDue + `)
		- (SELECT count(*) FROM river_job WHERE kind = $2 AND state IN ('available', 'pending', 'retryable', 'scheduled'))`

// WakeLabellers adds wake-ups up to the number of claimable relabelings and due batches: some
// became due since, others were lost with their workers. It is safe to call at any time, in any
// number of processes.
func (s *Store) WakeLabellers(ctx context.Context) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// A lock: otherwise concurrent callers would all add the missing ones.
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
