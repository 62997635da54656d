package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const exportSelect = `SELECT ex.id, json_build_object('run_id', ex.run_id, 'iteration', ex.iteration, 'aggregated', ex.aggregated, 'unfinished', ex.unfinished,
		'submitted', ex.submitted, 'resolved', ex.resolved, 'hit', ex.hit, 'min_score', ex.min_score, 'mixed_rewards', ex.mixed_rewards, 'verdict_protections', ex.verdict_protections, 'end_reasons', ex.end_reasons, 'agreement', ex.agreement,
		'label_policy_id', ex.label_policy_id, 'exclude_flags', ex.exclude_flags, 'allow_benchmarks', ex.allow_benchmarks) AS selection,
	ex.mix, ex.compared, ex.form, ex.state, ex.destination, ex.folder AS folder_id, ex.directory,
	(SELECT count(*) FROM export_parts p WHERE p.export_id = ex.id) AS parts,
	(SELECT count(*) FROM export_parts p WHERE p.export_id = ex.id AND p.done) AS parts_done,
	ex.rows, ex.trajectories, ex.excluded, ex.prompt_check, ex.model_check, coalesce(ex.failure, '') AS failure, coalesce(ex.waiting, '') AS waiting, ex.waiting_since,
	CASE WHEN ex.state = 'done' THEN (SELECT coalesce(json_agg(json_build_object('path', f.path, 'sha256', f.sha256, 'bytes', f.bytes, 'rows', f.rows,
		'tokens', f.tokens, 'supervised_tokens', f.supervised_tokens) ORDER BY f.path), '[]')
		FROM export_files f WHERE f.export_id = ex.id) ELSE '[]' END AS files,
	` + pushesOf + ` AS pushes, ex.created_at, ex.ended_at FROM exports ex`

// CreateExport stores a queued export and queues its first step, in one transaction.
// CodeInvalid if there is no such run.
func (s *Store) CreateExport(ctx context.Context, e relabel.Export) error {
	e.ID = ensureID(e.ID)
	sel := e.Selection
	return s.retryTx(ctx, unlessCreated("exports", e.ID), func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, sel.RunID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO exports (id, run_id, iteration, aggregated, submitted, resolved, end_reasons, agreement,
				label_policy_id, exclude_flags, form, destination, folder, directory, unfinished, mixed_rewards, model_check, tokenizer_hash, verdict_protections,
				allow_benchmarks, hit, min_score, mix)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, nullif($18, ''), $19, $20, $21, $22, $23)`,
			e.ID, sel.RunID, sel.Iteration, sel.Aggregated, sel.Submitted, sel.Resolved, texts(sel.EndReasons), sel.Agreement,
			sel.LabelPolicyID, texts(sel.ExcludeFlags), e.Form, e.Destination, e.FolderID, e.Directory, sel.Unfinished, sel.MixedRewards, e.ModelCheck, e.Form.TokenizerHash, sel.VerdictProtections,
			noneAsNull(sel.AllowBenchmarks), sel.Hit, sel.MinScore, e.Mix)
		if err != nil {
			return err
		}
		if err := insertSources(ctx, tx, e); err != nil {
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
	narrow(&l.queryBuilder, "(ex.run_id = %[1]s OR EXISTS (SELECT FROM export_sources WHERE export_id = ex.id AND run_id = %[1]s))", f.RunID)
	return l.page(ctx, s, p)
}

// FinishExport moves running to done with its directory, rows, counts and the files outside
// parts. CodeConflict in another state or with an unfinished part.
func (s *Store) FinishExport(ctx context.Context, e relabel.Export) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		if over, err := exportIs(ctx, tx, e.ID, relabel.ExportDone); again && (over || err != nil) {
			return err
		}
		err := execOrElse(ctx, tx, func() error { return exportOver(ctx, tx, e.ID) }, `UPDATE exports SET state = 'done', waiting = NULL, waiting_since = NULL, rows = $2, excluded = $3, directory = $4, prompt_check = $5, model_check = $6, trajectories = $7, ended_at = clock_timestamp()
			WHERE id = $1 AND state = 'running' AND NOT EXISTS (SELECT 1 FROM export_parts WHERE export_id = $1 AND NOT done)`,
			e.ID, e.Rows, e.Excluded, e.Directory, e.PromptCheck, e.ModelCheck, e.Trajectories)
		for i := 0; err == nil && i < len(e.Files); i++ {
			err = insertFile(ctx, tx, e.ID, nil, e.Files[i])
		}
		return err
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
		return ignoreNone(err)
	})
	return news, err
}

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
		folder, err := readValue[string](ctx, tx,
			`UPDATE exports SET state = $2, failure = $3, waiting = NULL, waiting_since = NULL, ended_at = clock_timestamp()
			WHERE id = $1 AND state IN ('queued', 'running') RETURNING folder`, id, state, failure)
		if errors.Is(err, pgx.ErrNoRows) { // it is over, or not there
			return exportOver(ctx, tx, id)
		}
		if err != nil {
			return err
		}
		return s.queueSteps(ctx, tx, folder, relabel.ExportJob{ExportID: id, Step: relabel.ClearExport})
	})
}

// DeleteExport deletes an export that is over. CodeConflict if it, or a push of it, is not.
func (s *Store) DeleteExport(ctx context.Context, id relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		pushed, err := readValue[bool](ctx, tx, "SELECT EXISTS (SELECT FROM export_pushes WHERE export_id = $1 AND state IN ('queued', 'running'))", id)
		if err != nil {
			return err
		}
		if pushed {
			return relabel.Errorf(relabel.CodeConflict, "the export is being pushed: wait for that push, or cancel it")
		}
		tag, err := tx.Exec(ctx, "DELETE FROM exports WHERE id = $1 AND state NOT IN ('queued', 'running')", id)
		if err == nil && tag.RowsAffected() == 0 && !again {
			return exportOver(ctx, tx, id)
		}
		return err
	})
}

func exportIs(ctx context.Context, tx pgx.Tx, id relabel.ID, state relabel.ExportState) (bool, error) {
	return readValue[bool](ctx, tx, "SELECT EXISTS (SELECT 1 FROM exports WHERE id = $1 AND state = $2)", id, state)
}

// exportOver returns the error for an export whose state does not allow a change.
func exportOver(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	state, err := readValue[relabel.ExportState](ctx, tx, "SELECT state FROM exports WHERE id = $1", id)
	if err != nil {
		return notFound("export", id, err)
	}
	return relabel.Errorf(relabel.CodeConflict, "the export is %s", state)
}

// CutExport moves queued to running, cuts the selection into parts of about partBytes of stored
// text, at least one trajectory each, and queues a job per part. The trajectories and their
// numbers of turns and labels come from one snapshot. It does nothing if the export is already
// cut. CodeNotFound if the run has no such iteration, CodeConflict if one of the iterations is
// running or the export is over.
func (s *Store) CutExport(ctx context.Context, id relabel.ID, partBytes int64) error {
	e, err := s.FindExport(ctx, id)
	if err != nil || e.State == relabel.ExportRunning && e.Parts > 0 {
		return err
	}
	parts, counts, err := s.cutSources(ctx, e, partBytes)
	if err != nil {
		return err
	}
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		var state relabel.ExportState
		var were int
		err := tx.QueryRow(ctx, `SELECT state, (SELECT count(*) FROM export_parts WHERE export_id = id) FROM exports WHERE id = $1 FOR UPDATE`, id).Scan(&state, &were)
		switch {
		case err != nil:
			return notFound("export", id, err)
		case state == relabel.ExportRunning && were > 0: // another try was faster
			return nil
		case state != relabel.ExportRunning && state != relabel.ExportQueued:
			return exportOver(ctx, tx, id)
		}
		b := &pgx.Batch{}
		step := relabel.SignPart
		if !e.Mix.Compares() {
			step, counts = relabel.BuildPart, nil
		}
		b.Queue("UPDATE exports SET state = 'running', comparing = $2, compared = $3, waiting = NULL, waiting_since = NULL WHERE id = $1", id, e.Mix.Compares(), counts)
		jobs := make([]relabel.ExportJob, len(parts))
		for i, part := range parts {
			b.Queue("INSERT INTO export_parts (export_id, number, source, chunk, trajectories) VALUES ($1, $2, $3, $4, $5)", id, i, part.Source, part.Chunk, part.Trajectories)
			jobs[i] = relabel.ExportJob{ExportID: id, Step: step, Part: i}
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return s.queueSteps(ctx, tx, e.FolderID, jobs...)
	})
}

type sizedTrajectory struct {
	relabel.PartTrajectory
	Bytes      int64
	group      rewardGroup
	submitted  *bool
	end        relabel.EndReason
	skipVerify bool
	failures   failureFlags
}

// cut puts trajectories into parts, in order. It returns at least one part, which may be empty.
func cut(all []sizedTrajectory, partBytes int64) [][]relabel.PartTrajectory {
	parts := [][]relabel.PartTrajectory{{}}
	var size int64
	for _, tr := range all {
		last := len(parts) - 1
		if len(parts[last]) > 0 && size+tr.Bytes > partBytes {
			parts, last, size = append(parts, nil), last+1, 0
		}
		parts[last] = append(parts[last], tr.PartTrajectory)
		size += tr.Bytes
	}
	return parts
}

// FindExportPart returns a part with its finished files; CodeNotFound if the export has no such
// part.
func (s *Store) FindExportPart(ctx context.Context, id relabel.ID, number int) (relabel.ExportPart, error) {
	p := relabel.ExportPart{ExportID: id, Number: number}
	err := s.pool.QueryRow(ctx, `SELECT source, chunk, trajectories, coalesce(dropped, '[]'), done FROM export_parts WHERE export_id = $1 AND number = $2`, id, number).
		Scan(&p.Source, &p.Chunk, &p.Trajectories, &p.Dropped, &p.Done)
	if err != nil {
		return p, notFound("part of the export", id, err)
	}
	p.Files, err = s.partFiles(ctx, id, &number)
	return p, err
}

// partFiles returns the files of a part (nil: of all parts), by path.
func (s *Store) partFiles(ctx context.Context, id relabel.ID, part *int) ([]relabel.ExportFile, error) {
	rows, _ := s.pool.Query(ctx, `SELECT path, sha256, bytes, rows, tokens, supervised_tokens FROM export_files
		WHERE export_id = $1 AND part = coalesce($2, part) ORDER BY path`, id, part)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[relabel.ExportFile])
}

// SaveExportFile records a finished file of a part. Recording it again, in a retry of the part,
// changes nothing: the same part has the same bytes.
func (s *Store) SaveExportFile(ctx context.Context, id relabel.ID, part int, f relabel.ExportFile) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := insertFile(ctx, tx, id, &part, f); err != nil {
			return err
		}
		return waitsNoMore(ctx, tx, id)
	})
}

func insertFile(ctx context.Context, tx pgx.Tx, id relabel.ID, part *int, f relabel.ExportFile) error {
	_, err := tx.Exec(ctx, `INSERT INTO export_files (export_id, part, path, sha256, bytes, rows, tokens, supervised_tokens)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (export_id, path) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes,
			rows = excluded.rows, tokens = excluded.tokens, supervised_tokens = excluded.supervised_tokens`,
		id, part, f.Path, f.SHA256, f.Bytes, f.Rows, f.Tokens, f.SupervisedTokens)
	return err
}

// FinishExportPart records that a part's files are complete, with its summary (JSON) and
// exclusions (lines of JSON). The last part queues the export's last step.
func (s *Store) FinishExportPart(ctx context.Context, id relabel.ID, part int, summary json.RawMessage, excluded []byte) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		var folder string // locked, so that of two parts that end at once one is the last
		err := tx.QueryRow(ctx, "SELECT folder FROM exports WHERE id = $1 AND state = 'running' FOR UPDATE", id).Scan(&folder)
		if errors.Is(err, pgx.ErrNoRows) {
			return exportOver(ctx, tx, id)
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE export_parts SET done = true, summary = $3, excluded = coalesce($4, ''::bytea) WHERE export_id = $1 AND number = $2 AND NOT done`,
			id, part, summary, excluded)
		if err != nil {
			return err
		}
		if err := waitsNoMore(ctx, tx, id); err != nil {
			return err
		}
		var open bool
		if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM export_parts WHERE export_id = $1 AND NOT done)", id).Scan(&open); err != nil || open {
			return err
		}
		return s.queueSteps(ctx, tx, folder, relabel.ExportJob{ExportID: id, Step: relabel.FinishExport})
	})
}

// ExportParts yields the summary and exclusions of each part, in order, one at a time in
// memory. CodeConflict for an unfinished part.
func (s *Store) ExportParts(ctx context.Context, id relabel.ID) iter.Seq2[relabel.FinishedPart, error] {
	return func(yield func(relabel.FinishedPart, error) bool) {
		for n := 0; ; n++ {
			p := relabel.FinishedPart{Number: n}
			var done bool
			err := s.pool.QueryRow(ctx, "SELECT done, source, summary, excluded FROM export_parts WHERE export_id = $1 AND number = $2", id, n).Scan(&done, &p.Source, &p.Summary, &p.Excluded)
			if n > 0 && errors.Is(err, pgx.ErrNoRows) {
				return
			}
			if err == nil && !done {
				err = relabel.Errorf(relabel.CodeConflict, "part %d of the export is not done", n)
			}
			if err == nil {
				p.Files, err = s.partFiles(ctx, id, &n)
			}
			if !yield(p, notFound("export's parts", id, err)) || err != nil {
				return
			}
		}
	}
}
