package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const exportSelect = `SELECT ex.id, json_build_object('run_id', ex.run_id, 'iteration', ex.iteration, 'aggregated', ex.aggregated,
		'submitted', ex.submitted, 'resolved', ex.resolved, 'label_policy_id', ex.label_policy_id) AS selection,
	ex.view, ex.state, ex.directory, ex.rows, ex.left_out, coalesce(ex.failure, '') AS failure,
	(SELECT coalesce(json_agg(json_build_object('path', f.path, 'sha256', f.sha256, 'bytes', f.bytes, 'rows', f.rows) ORDER BY f.path), '[]')
		FROM export_files f WHERE f.export_id = ex.id) AS files,
	ex.created_at, ex.ended_at FROM exports ex`

// CreateExport stores an export as queued, and queues its job, in one transaction.
// CodeInvalid where there is no such run.
func (s *Store) CreateExport(ctx context.Context, e relabel.Export) error {
	id, sel := given(e.ID), e.Selection
	return s.create(ctx, "exports", id, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO exports (id, run_id, iteration, aggregated, submitted, resolved, label_policy_id, view, directory)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			id, sel.RunID, sel.Iteration, sel.Aggregated, sel.Submitted, sel.Resolved, sel.LabelPolicyID, e.View, e.Directory)
		if err != nil {
			return err
		}
		return s.queueExport(ctx, tx, id)
	})
}

// FindExport returns an export with its files; CodeNotFound where there is none.
func (s *Store) FindExport(ctx context.Context, id relabel.ID) (relabel.Export, error) {
	rows, _ := s.pool.Query(ctx, exportSelect+" WHERE ex.id = $1", id)
	e, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[relabel.Export])
	return e, missing("export", id, err)
}

// ListExports lists exports, newest first. CodeInvalid for a page that is none.
func (s *Store) ListExports(ctx context.Context, p relabel.Page) ([]relabel.Export, string, error) {
	l := list[relabel.Export]{query: exportSelect, key: "ex", scan: pgx.RowToStructByName[relabel.Export],
		keyOf: func(e relabel.Export) cursor { return cursor{e.CreatedAt, e.ID} }}
	return l.page(ctx, s, p)
}

// StartExport moves queued to running; one that runs already was interrupted and starts
// again. An export that is over is a CodeConflict.
func (s *Store) StartExport(ctx context.Context, id relabel.ID) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE exports SET state = 'running' WHERE id = $1 AND state IN ('queued', 'running')", id)
		if err == nil && tag.RowsAffected() == 0 {
			return exportOver(ctx, tx, id)
		}
		return err
	})
}

// FinishExport moves running to done with counts and files. Another state is a
// CodeConflict.
func (s *Store) FinishExport(ctx context.Context, e relabel.Export) error {
	return s.settle(ctx, func(tx pgx.Tx, again bool) error {
		if over, err := exportIs(ctx, tx, e.ID, relabel.ExportDone); again && (over || err != nil) {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE exports SET state = 'done', rows = $2, left_out = $3, directory = $4, ended_at = clock_timestamp()
			WHERE id = $1 AND state = 'running'`, e.ID, e.Rows, e.LeftOut, e.Directory)
		switch {
		case err != nil:
			return err
		case tag.RowsAffected() == 0:
			return exportOver(ctx, tx, e.ID)
		}
		b := &pgx.Batch{}
		for _, f := range e.Files {
			b.Queue("INSERT INTO export_files (export_id, path, sha256, bytes, rows) VALUES ($1, $2, $3, $4, $5)",
				e.ID, f.Path, f.SHA256, f.Bytes, f.Rows)
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

// FailExport moves queued or running to failed with a reason that is safe to show. An
// export that is over is a CodeConflict.
func (s *Store) FailExport(ctx context.Context, id relabel.ID, reason string) error {
	return s.settle(ctx, func(tx pgx.Tx, again bool) error {
		if over, err := exportIs(ctx, tx, id, relabel.ExportFailed); again && (over || err != nil) {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE exports SET state = 'failed', failure = $2, ended_at = clock_timestamp()
			WHERE id = $1 AND state IN ('queued', 'running')`, id, legible(reason))
		if err == nil && tag.RowsAffected() == 0 {
			return exportOver(ctx, tx, id)
		}
		return err
	})
}

func exportIs(ctx context.Context, tx pgx.Tx, id relabel.ID, state relabel.ExportState) (bool, error) {
	var yes bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM exports WHERE id = $1 AND state = $2)", id, state).Scan(&yes)
	return yes, err
}

// exportOver says why an export's state did not allow a change.
func exportOver(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	var state relabel.ExportState
	if err := tx.QueryRow(ctx, "SELECT state FROM exports WHERE id = $1", id).Scan(&state); err != nil {
		return missing("export", id, err)
	}
	return relabel.Errorf(relabel.CodeConflict, "the export is %s", state)
}
