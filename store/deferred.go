package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// rolling selects iterations it that still roll out, or of which a worker is about to release a
// finished rollout, whose labels an earlier batch would miss.
const rolling = `(EXISTS (SELECT 1 FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state IN ('queued', 'running') AND tr.end_reason IS NULL)
	OR EXISTS (SELECT 1 FROM trajectories tr WHERE tr.run_id = it.run_id AND tr.owner IS NOT NULL AND tr.iteration_id = it.id AND tr.labels_pending > 0))`

// BeginLabelling begins the labelling of iterations with deferred labels whose rollouts have
// all ended, and continues labelling that has begun. The end of an iteration's last rollout
// does the same; this call repairs the effect of a crash. It is safe to call at any time, in
// any number of processes.
func (s *Store) BeginLabelling(ctx context.Context) error {
	iterations, err := readColumn[relabel.ID](ctx, s.pool,
		"SELECT DISTINCT iteration_id FROM trajectories WHERE state = 'labelling' AND owner IS NULL")
	if err != nil {
		return classify(err)
	}
	for _, id := range iterations {
		if err := s.beginLabelling(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// LabelIteration begins the labelling of finished rollouts while others of the iteration may
// still run. CodeConflict if the run labels inline or the iteration is over.
func (s *Store) LabelIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error) {
	it, _, err := s.FindIteration(ctx, id)
	if err != nil {
		return it, err
	}
	run, err := s.FindRun(ctx, it.RunID)
	switch {
	case err != nil:
		return it, err
	case !run.Labels.Deferred() || it.Kind == relabel.Evaluate:
		return it, relabel.Errorf(relabel.CodeConflict, "no labels of this iteration are deferred")
	case it.State != relabel.IterationRunning:
		return it, relabel.Errorf(relabel.CodeConflict, "the iteration is %s", it.State)
	}
	if err := s.label(ctx, id, true); err != nil {
		return it, err
	}
	it, _, err = s.FindIteration(ctx, id)
	return it, err
}

// beginLabelling begins an iteration's labelling if all its rollouts have ended.
func (s *Store) beginLabelling(ctx context.Context, iteration relabel.ID) error {
	return s.label(ctx, iteration, false)
}

// label moves an iteration's trajectories that wait for labels to the queue, or their labels to
// a batch if the run uses a batch endpoint. Trajectories with all labels of a batch return to
// the queue too.
func (s *Store) label(ctx context.Context, iteration relabel.ID, now bool) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// A lock per iteration: otherwise two callers would create batches of the same labels.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('labelling of ' || $1::text, 0))", iteration.String()); err != nil {
			return err
		}
		var mode relabel.LabelMode
		var begun, over bool
		err := tx.QueryRow(ctx, `SELECT ru.labels, it.labelling_since IS NOT NULL, NOT `+rolling+`
			FROM iterations it JOIN runs ru ON ru.id = it.run_id WHERE it.id = $1 AND it.state = 'running'`, iteration).Scan(&mode, &begun, &over)
		if err != nil {
			return ignoreNone(err)
		}
		if mode == relabel.LabelsDeferred && !begun && !over && !now {
			return nil
		}
		if err := s.requeueWaiting(ctx, tx, iteration, mode == relabel.LabelsDeferred); err != nil {
			return err
		}
		if mode == relabel.LabelsBatch && (over || now) {
			if err := s.gatherBatch(ctx, tx, iteration); err != nil {
				return err
			}
		}
		if begun || !over && !now {
			return nil
		}
		// Lock order: trajectories before their iteration.
		_, err = tx.Exec(ctx, "UPDATE iterations SET labelling_since = clock_timestamp() WHERE id = $1", iteration)
		return err
	})
}

// ignoreNone returns nil for pgx.ErrNoRows.
func ignoreNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// requeueWaiting returns waiting trajectories to the queue: those without pending labels, for
// their verification, or all of them, for their labels.
func (s *Store) requeueWaiting(ctx context.Context, tx pgx.Tx, iteration relabel.ID, all bool) error {
	ids, err := readColumn[relabel.ID](ctx, tx,
		requeueUpdate+` WHERE id IN (SELECT id FROM trajectories WHERE iteration_id = $1
		AND state = 'labelling' AND owner IS NULL AND ($2 OR labels_pending = 0) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) RETURNING id`, iteration, all)
	if err != nil {
		return err
	}
	return s.wake(ctx, tx, len(ids))
}
