package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const exportSelect = `SELECT ex.id, json_build_object('run_id', ex.run_id, 'iteration', ex.iteration, 'aggregated', ex.aggregated, 'unfinished', ex.unfinished,
		'submitted', ex.submitted, 'resolved', ex.resolved, 'mixed_rewards', ex.mixed_rewards, 'verdict_protections', ex.verdict_protections, 'end_reasons', ex.end_reasons, 'agreement', ex.agreement,
		'label_policy_id', ex.label_policy_id, 'exclude_flags', ex.exclude_flags) AS selection,
	ex.form, ex.state, ex.destination, ex.folder AS folder_id, ex.directory,
	(SELECT count(*) FROM export_parts p WHERE p.export_id = ex.id) AS parts,
	(SELECT count(*) FROM export_parts p WHERE p.export_id = ex.id AND p.done) AS parts_done,
	ex.rows, ex.excluded, ex.prompt_check, ex.model_check, coalesce(ex.failure, '') AS failure, coalesce(ex.waiting, '') AS waiting, ex.waiting_since,
	CASE WHEN ex.state = 'done' THEN (SELECT coalesce(json_agg(json_build_object('path', f.path, 'sha256', f.sha256, 'bytes', f.bytes, 'rows', f.rows,
		'tokens', f.tokens, 'supervised_tokens', f.supervised_tokens) ORDER BY f.path), '[]')
		FROM export_files f WHERE f.export_id = ex.id) ELSE '[]' END AS files,
	ex.created_at, ex.ended_at FROM exports ex`

// CreateExport stores a queued export and queues its first step, in one transaction.
// CodeInvalid if there is no such run.
func (s *Store) CreateExport(ctx context.Context, e relabel.Export) error {
	e.ID = ensureID(e.ID)
	sel := e.Selection
	if sel.EndReasons == nil {
		sel.EndReasons = []relabel.EndReason{}
	}
	if sel.ExcludeFlags == nil {
		sel.ExcludeFlags = []string{}
	}
	return s.retryTx(ctx, unlessCreated("exports", e.ID), func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, sel.RunID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO exports (id, run_id, iteration, aggregated, submitted, resolved, end_reasons, agreement,
				label_policy_id, exclude_flags, form, destination, folder, directory, unfinished, mixed_rewards, model_check, tokenizer_hash, verdict_protections)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, nullif($18, ''), $19)`,
			e.ID, sel.RunID, sel.Iteration, sel.Aggregated, sel.Submitted, sel.Resolved, sel.EndReasons, sel.Agreement,
			sel.LabelPolicyID, sel.ExcludeFlags, e.Form, e.Destination, e.FolderID, e.Directory, sel.Unfinished, sel.MixedRewards, e.ModelCheck, e.Form.TokenizerHash, sel.VerdictProtections)
		if err != nil {
			return err
		}
		return s.queueSteps(ctx, tx, e.FolderID, relabel.ExportJob{ExportID: e.ID, Step: relabel.CutExport})
	})
}

// FindExport returns an export, with its files when it is done; CodeNotFound if there
// is none.
func (s *Store) FindExport(ctx context.Context, id relabel.ID) (relabel.Export, error) {
	return find[relabel.Export](ctx, s, "export", id, exportSelect+" WHERE ex.id = $1", id)
}

// ListExports lists the exports that match the filter, newest first. CodeInvalid for an invalid
// page.
func (s *Store) ListExports(ctx context.Context, f relabel.ExportFilter, p relabel.Page) ([]relabel.Export, string, error) {
	l := list[relabel.Export]{query: exportSelect, key: "ex",
		keyOf: func(e relabel.Export) cursor { return cursor{e.CreatedAt, e.ID} }}
	narrow(&l.queryBuilder, "ex.run_id = %s", f.RunID)
	return l.page(ctx, s, p)
}

// FinishExport moves running to done with its directory, rows, counts and the files outside
// parts. CodeConflict in another state or with an unfinished part.
func (s *Store) FinishExport(ctx context.Context, e relabel.Export) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if over, err := exportIs(ctx, tx, e.ID, relabel.ExportDone); again && (over || err != nil) {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE exports SET state = 'done', waiting = NULL, waiting_since = NULL, rows = $2, excluded = $3, directory = $4, prompt_check = $5, model_check = $6, ended_at = clock_timestamp()
			WHERE id = $1 AND state = 'running' AND NOT EXISTS (SELECT 1 FROM export_parts WHERE export_id = $1 AND NOT done)`,
			e.ID, e.Rows, e.Excluded, e.Directory, e.PromptCheck, e.ModelCheck)
		switch {
		case err != nil:
			return err
		case tag.RowsAffected() == 0:
			return exportOver(ctx, tx, e.ID)
		}
		for _, f := range e.Files {
			if err := insertFile(ctx, tx, e.ID, nil, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// FailExport moves queued or running to failed with a reason that is safe to show. CodeConflict
// if the export is over.
func (s *Store) FailExport(ctx context.Context, id relabel.ID, reason string) error {
	return s.endExport(ctx, id, relabel.ExportFailed, new(validUTF8(reason)))
}

// ExportWaits records why and since when an export waits, with a reason that is safe to show.
// It reports whether the export did not wait before. It ignores one that is over or missing.
func (s *Store) ExportWaits(ctx context.Context, id relabel.ID, reason string) (news bool, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		err := tx.QueryRow(ctx, `UPDATE exports ex SET waiting = $2, waiting_since = coalesce(ex.waiting_since, clock_timestamp())
			FROM (SELECT id, waiting FROM exports WHERE id = $1 FOR UPDATE) had
			WHERE ex.id = had.id AND ex.state IN ('queued', 'running') RETURNING had.waiting IS DISTINCT FROM ex.waiting`, id, validUTF8(reason)).Scan(&news)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return news, err
}

// waitsNoMore clears the reason why an export waited.
func waitsNoMore(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	_, err := tx.Exec(ctx, "UPDATE exports SET waiting = NULL, waiting_since = NULL WHERE id = $1 AND waiting IS NOT NULL", id)
	return err
}

// CancelExport moves queued or running to cancelled; running steps end soon. CodeConflict if
// the export is over; cancelling twice is not an error.
func (s *Store) CancelExport(ctx context.Context, id relabel.ID) error {
	return s.endExport(ctx, id, relabel.ExportCancelled, nil)
}

// endExport ends an export without files, and queues the removal of files written so far.
func (s *Store) endExport(ctx context.Context, id relabel.ID, state relabel.ExportState, failure *string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if over, err := exportIs(ctx, tx, id, state); (again || state == relabel.ExportCancelled) && (over || err != nil) {
			return err
		}
		var folder string
		err := tx.QueryRow(ctx, `UPDATE exports SET state = $2, failure = $3, waiting = NULL, waiting_since = NULL, ended_at = clock_timestamp()
			WHERE id = $1 AND state IN ('queued', 'running') RETURNING folder`, id, state, failure).Scan(&folder)
		if errors.Is(err, pgx.ErrNoRows) { // it is over, or not there
			return exportOver(ctx, tx, id)
		}
		if err != nil {
			return err
		}
		return s.queueSteps(ctx, tx, folder, relabel.ExportJob{ExportID: id, Step: relabel.ClearExport})
	})
}

// DeleteExport deletes an export that is over. CodeConflict if it is not.
func (s *Store) DeleteExport(ctx context.Context, id relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		tag, err := tx.Exec(ctx, "DELETE FROM exports WHERE id = $1 AND state NOT IN ('queued', 'running')", id)
		if err == nil && tag.RowsAffected() == 0 && !again {
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

// exportOver returns the error for an export whose state does not allow a change.
func exportOver(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	var state relabel.ExportState
	if err := tx.QueryRow(ctx, "SELECT state FROM exports WHERE id = $1", id).Scan(&state); err != nil {
		return notFound("export", id, err)
	}
	return relabel.Errorf(relabel.CodeConflict, "the export is %s", state)
}
