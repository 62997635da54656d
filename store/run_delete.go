package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// contentsSelect counts what belongs to run $1.
const contentsSelect = `SELECT
	(SELECT count(*) FROM iterations it WHERE it.run_id = $1) AS iterations,
	(SELECT count(*) FROM trajectories tr WHERE tr.run_id = $1) AS trajectories,
	(SELECT coalesce(sum(tr.turns), 0)::bigint FROM trajectories tr WHERE tr.run_id = $1) AS turns,
	(SELECT count(*) FROM trajectories tr JOIN calls c ON c.trajectory_id = tr.id WHERE tr.run_id = $1) AS calls,
	(SELECT count(*) FROM trajectories tr JOIN reviews re ON re.trajectory_id = tr.id WHERE tr.run_id = $1) AS reviews,
	(SELECT count(*) FROM exports ex WHERE ex.run_id = $1) AS exports,
	(SELECT coalesce(sum(pg_column_size(o.content)), 0)::bigint FROM trajectories tr JOIN observations o ON o.trajectory_id = tr.id WHERE tr.run_id = $1)
		+ (SELECT coalesce(sum(pg_column_size(ac.*)), 0)::bigint FROM trajectories tr JOIN actions ac ON ac.trajectory_id = tr.id WHERE tr.run_id = $1) AS bytes,
	'' AS refused`

// CountRun says what a run consists of and whether it can be deleted. CodeNotFound where
// there is none.
func (s *Store) CountRun(ctx context.Context, id relabel.ID) (relabel.RunContents, error) {
	if _, err := s.FindRun(ctx, id); err != nil {
		return relabel.RunContents{}, err
	}
	rows, _ := s.pool.Query(ctx, contentsSelect, id)
	c, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[relabel.RunContents])
	if err != nil {
		return c, classify(err)
	}
	c.Refused, err = inUse(ctx, s.pool, id)
	return c, classify(err)
}

// queryRow is what a pool and a transaction have in common.
type queryRow interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// inUse says why a run cannot be deleted now, "" where it can.
func inUse(ctx context.Context, db queryRow, run relabel.ID) (why string, err error) {
	var running, open, exports int
	err = db.QueryRow(ctx, `SELECT (SELECT count(*) FROM iterations WHERE run_id = $1 AND state = 'running'),
		(SELECT count(*) FROM trajectories WHERE run_id = $1 AND state NOT IN ('done', 'failed', 'cancelled')),
		(SELECT count(*) FROM exports WHERE run_id = $1 AND state IN ('queued', 'running'))`, run).Scan(&running, &open, &exports)
	switch {
	case err != nil:
		return "", err
	case running > 0 || open > 0:
		return "it has iterations that run: wait for them, or cancel the run first", nil
	case exports > 0:
		return "an export of it is being built: wait for it, or cancel the export first", nil
	}
	return "", nil
}

// DeleteIdleRun is DeleteRun of a run that is not at work: CodeConflict while an iteration
// runs or an export is built. Nothing can begin between the look and the deletion.
func (s *Store) DeleteIdleRun(ctx context.Context, id relabel.ID) error {
	return s.deleteRun(ctx, id, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT 1 FROM runs WHERE id = $1 FOR UPDATE", id); err != nil {
			return err
		}
		why, err := inUse(ctx, tx, id)
		if err == nil && why != "" {
			return relabel.Errorf(relabel.CodeConflict, "the run cannot be deleted: %s", why)
		}
		return err
	})
}
