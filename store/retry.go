package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// retryUpdate requeues failed trajectories with their turns and ending, and resets all counts
// of failures.
const retryUpdate = `UPDATE trajectories SET state = 'queued', failure = NULL, failure_detail = NULL, ended_at = NULL,
	environment_failures = 0, waited_step = NULL, waited_ms = 0, fault = NULL, faults = 0, claimable_at = clock_timestamp() WHERE id = ANY ($1)`

// reopenLabels makes labels pending that became missing when the trajectories failed.
const reopenLabels = `WITH again AS (UPDATE actions a SET status = 'pending', reason = NULL FROM trajectories tr
		WHERE tr.id = ANY ($1) AND a.trajectory_id = tr.id AND a.attempt = tr.trail AND a.status = 'missing' AND starts_with(a.reason, $2)
		RETURNING a.trajectory_id),
	counts AS (SELECT trajectory_id, count(*) AS n FROM again GROUP BY trajectory_id)
	UPDATE trajectories tr SET labels_pending = labels_pending + n, labels_missing = labels_missing - n FROM counts WHERE tr.id = counts.trajectory_id`

// RetryFailed requeues the iteration's trajectories that failed for one of the reasons (none:
// any reason), with fresh budgets and their lost labels pending again, and returns their
// number. A done iteration runs again. Existing exports do not change. CodeConflict if the
// iteration was cancelled or its run is being deleted.
func (s *Store) RetryFailed(ctx context.Context, iteration relabel.ID, reasons []relabel.FailureReason) (retried int, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, ofIteration, iteration); err != nil {
			return err
		}
		if err := cancelOrRetry(ctx, tx, iteration); err != nil {
			return err
		}
		// Lock order: trajectories before their iteration.
		ids, err := readColumn[relabel.ID](ctx, tx,
			`SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'failed'
			AND (cardinality($2::text[]) = 0 OR failure = ANY ($2)) ORDER BY id FOR NO KEY UPDATE`, iteration, texts(reasons))
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

// texts is a list that Postgres accepts as an array of text, never null.
func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
