package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// rolling tells whether iteration it still rolls out, or a worker is about to let go of what
// it has rolled out: labels that are gathered before that would leave its own out.
const rolling = `(EXISTS (SELECT 1 FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state IN ('queued', 'running') AND tr.end_reason IS NULL)
	OR EXISTS (SELECT 1 FROM trajectories tr WHERE tr.run_id = it.run_id AND tr.owner IS NOT NULL AND tr.iteration_id = it.id AND tr.labels_pending > 0))`

// BeginLabelling begins the labelling of the iterations whose labels are deferred and
// whose rollouts are all over, and goes on with that of iterations if it has begun.
// Whoever ends an iteration's last rollout does so too; this makes good what died in
// between. It may run at any time, in any number of processes.
func (s *Store) BeginLabelling(ctx context.Context) error {
	rows, _ := s.pool.Query(ctx, "SELECT DISTINCT iteration_id FROM trajectories WHERE state = 'labelling' AND owner IS NULL")
	iterations, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
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

// LabelIteration begins the labelling of what has been rolled out, whatever else the
// iteration still rolls out. CodeConflict if labels are asked for beside the rollouts,
// or if the iteration is over.
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

// beginLabelling begins an iteration's labelling if nothing of it is rolled out any more.
func (s *Store) beginLabelling(ctx context.Context, iteration relabel.ID) error {
	return s.label(ctx, iteration, false)
}

// label hands on what of an iteration waits for its labels: to the queue where workers
// ask for them, into a batch where the batch endpoint is asked. What a batch has brought
// goes back to the queue too.
func (s *Store) label(ctx context.Context, iteration relabel.ID, now bool) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// One at a time, or each would make a batch of the same labels.
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
		// Trajectories before their iteration, as everywhere.
		_, err = tx.Exec(ctx, "UPDATE iterations SET labelling_since = clock_timestamp() WHERE id = $1", iteration)
		return err
	})
}

// ignoreNone makes nothing of finding nothing.
func ignoreNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// requeueWaiting gives waiting trajectories back to the queue, which is where workers
// claim them: those that owe nothing any more, to be verified, or all of them, to be
// labelled first.
func (s *Store) requeueWaiting(ctx context.Context, tx pgx.Tx, iteration relabel.ID, all bool) error {
	rows, _ := tx.Query(ctx, requeueUpdate+` WHERE id IN (SELECT id FROM trajectories WHERE iteration_id = $1
		AND state = 'labelling' AND owner IS NULL AND ($2 OR labels_pending = 0) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) RETURNING id`, iteration, all)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
	if err != nil {
		return err
	}
	return s.wake(ctx, tx, len(ids))
}
