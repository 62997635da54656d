package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// deletionSteps delete the contents of run $1, at most $2 units per statement, with references
// before their targets. A step is finished when it deletes nothing. Each unit includes the rows
// that belong to it.
var deletionSteps = []struct {
	statement string
	units     int
}{
	{"DELETE FROM trajectories WHERE id IN (SELECT id FROM trajectories WHERE run_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2)", 20},
	{"DELETE FROM iterations WHERE id IN (SELECT id FROM iterations WHERE run_id = $1 LIMIT $2)", 20},
	{"DELETE FROM exports WHERE id IN (SELECT id FROM exports WHERE run_id = $1 LIMIT $2)", 1},
	{"DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE run_id = $1 LIMIT $2)", purgeBatch},
	{"DELETE FROM events WHERE id IN (SELECT id FROM events WHERE run_id = $1 LIMIT $2)", purgeBatch},
	{"DELETE FROM runs WHERE id = $1 AND $2::integer > 0", 1},
}

// BeginDeletion marks a run as being deleted: it takes no new work, and FinishDeletion deletes
// it. A marked run stays marked. CodeNotFound if there is none, CodeConflict while an iteration
// or export runs, or trajectories are relabelled or graded again. None of these can begin
// between the check and the mark.
func (s *Store) BeginDeletion(ctx context.Context, run relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		var marked bool
		err := tx.QueryRow(ctx, "SELECT deleting_at IS NOT NULL FROM runs WHERE id = $1 FOR UPDATE", run).Scan(&marked)
		if err != nil || marked {
			return notFound("run", run, err)
		}
		why, err := inUse(ctx, tx, run)
		if err != nil {
			return err
		}
		if why != "" {
			return relabel.Errorf(relabel.CodeConflict, "the run cannot be deleted: %s", why)
		}
		if _, err := tx.Exec(ctx, "UPDATE runs SET deleting_at = clock_timestamp() WHERE id = $1", run); err != nil {
			return err
		}
		// Only waiting jobs: the queue's workers end running ones.
		_, err = tx.Exec(ctx, `DELETE FROM river_job j WHERE j.state <> 'running' AND j.kind = 'export'
			AND (j.args->>'export_id')::uuid IN (SELECT ex.id FROM exports ex WHERE ex.run_id = $1)`, run)
		return err
	})
}

// FinishDeletion deletes a run that BeginDeletion marked, with its iterations, trajectories and
// all their data, entries of exports (not their files) and events. Each transaction deletes a
// bounded number of rows, and committed deletions stay when ctx ends. It ignores a run that is
// gone or not marked. Any number of processes may call it for one run.
func (s *Store) FinishDeletion(ctx context.Context, run relabel.ID) error {
	for step := 0; step < len(deletionSteps); {
		deleted, err := s.deleteSome(ctx, run, step)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		case deleted == 0 || step == len(deletionSteps)-1:
			step++
		}
	}
	return s.BalanceWakeups(ctx)
}

// deleteSome runs one step of a deletion once and counts the units; pgx.ErrNoRows if no such
// run is marked. The lock serializes processes.
func (s *Store) deleteSome(ctx context.Context, run relabel.ID, step int) (deleted int64, err error) {
	var gone bool
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		gone = false
		err := tx.QueryRow(ctx, "SELECT FROM runs WHERE id = $1 AND deleting_at IS NOT NULL FOR UPDATE", run).Scan()
		if errors.Is(err, pgx.ErrNoRows) {
			gone = true
			return nil
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, deletionSteps[step].statement, run, deletionSteps[step].units)
		deleted = tag.RowsAffected()
		return err
	})
	if err == nil && gone {
		err = pgx.ErrNoRows
	}
	return deleted, err
}

// FinishDeletions finishes the deletions that have begun, for example on a server that was
// stopped. A failure does not prevent the others.
func (s *Store) FinishDeletions(ctx context.Context) error {
	runs, err := readColumn[relabel.ID](ctx, s.pool,
		"SELECT id FROM runs WHERE deleting_at IS NOT NULL ORDER BY deleting_at, id")
	if err != nil {
		return classify(err)
	}
	var failed []error
	for _, run := range runs {
		if err := s.FinishDeletion(ctx, run); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// How keepRun finds the run for $1.
const (
	itself       = "$1"
	ofIteration  = "(SELECT run_id FROM iterations WHERE id = $1)"
	ofTrajectory = "(SELECT run_id FROM trajectories WHERE id = $1)"
)

// keepRun locks a run against its deletion until the transaction ends, so that BeginDeletion
// sees the transaction's work. CodeConflict if the run is being deleted. A missing run is left
// to the caller.
func keepRun(ctx context.Context, tx pgx.Tx, run string, id relabel.ID) error {
	var deleting bool
	err := tx.QueryRow(ctx, "SELECT deleting_at IS NOT NULL FROM runs WHERE id = "+run+" FOR KEY SHARE", id).Scan(&deleting)
	if err == nil && deleting {
		return relabel.Errorf(relabel.CodeConflict, "the run is being deleted")
	}
	return ignoreNone(err)
}
