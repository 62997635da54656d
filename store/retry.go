package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// retryUpdate gives failed trajectories back to the queue, with their turns and their
// ending, if they have one. Whatever counted towards a failure begins again at 0.
const retryUpdate = `UPDATE trajectories SET state = 'queued', failure = NULL, failure_detail = NULL, ended_at = NULL,
	environment_failures = 0, waited_step = NULL, waited_ms = 0, fault = NULL, faults = 0, claimable_at = clock_timestamp() WHERE id = ANY ($1)`

// reopenLabels makes pending what was forgone when the trajectories failed.
const reopenLabels = `WITH again AS (UPDATE actions a SET status = 'pending', reason = NULL FROM trajectories tr
		WHERE tr.id = ANY ($1) AND a.trajectory_id = tr.id AND a.attempt = tr.trail AND a.status = 'missing' AND starts_with(a.reason, $2)
		RETURNING a.trajectory_id),
	counts AS (SELECT trajectory_id, count(*) AS n FROM again GROUP BY trajectory_id)
	UPDATE trajectories tr SET labels_pending = labels_pending + n, labels_missing = labels_missing - n FROM counts WHERE tr.id = counts.trajectory_id`

// RetryFailed gives the iteration's trajectories that failed for one of the reasons back
// to the queue, with fresh budgets and the labels pending that they had not got; the
// iteration runs again if it was done. No reasons are all reasons. It returns how many
// there were. CodeConflict if the iteration was cancelled or its run is being deleted. Data sets that were exported
// before stay as they are.
func (s *Store) RetryFailed(ctx context.Context, iteration relabel.ID, reasons []relabel.FailureReason) (retried int, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, ofIteration, iteration); err != nil {
			return err
		}
		if err := cancelOrRetry(ctx, tx, iteration); err != nil {
			return err
		}
		// Trajectories before their iteration, as everywhere.
		rows, _ := tx.Query(ctx, `SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'failed'
			AND (cardinality($2::text[]) = 0 OR failure = ANY ($2)) ORDER BY id FOR NO KEY UPDATE`, iteration, texts(reasons))
		ids, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
		if err != nil {
			return err
		}
		it, err := readIteration(ctx, tx, iteration)
		if err != nil {
			return err
		}
		if it.State == relabel.IterationCancelled {
			return relabel.Errorf(relabel.CodeConflict, "the iteration was cancelled")
		}
		retried = max(retried, len(ids)) // none are left after a commit that was unclear
		if len(ids) == 0 {
			return nil
		}
		return s.requeue(ctx, tx, iteration, ids)
	})
	return retried, err
}

func (s *Store) requeue(ctx context.Context, tx pgx.Tx, iteration relabel.ID, ids []relabel.ID) error {
	b := &pgx.Batch{}
	b.Queue(retryUpdate, ids)
	b.Queue(reopenLabels, ids, forgone)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE iterations SET state = 'running', ended_at = NULL, open = open + $2 WHERE id = $1", iteration, len(ids))
	if err != nil {
		return err
	}
	return s.wake(ctx, tx, len(ids))
}

// texts is a list that Postgres takes for an array of text, never null.
func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
