package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"relabel"
)

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
	var all []sizedTrajectory
	err = s.read(ctx, func(tx pgx.Tx) (err error) {
		all, err = selected(ctx, tx, e.Selection)
		return err
	})
	if err != nil {
		return err
	}
	parts := cut(all, partBytes)
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
		b.Queue("UPDATE exports SET state = 'running', waiting = NULL, waiting_since = NULL WHERE id = $1", id)
		jobs := make([]relabel.ExportJob, len(parts))
		for i, part := range parts {
			b.Queue("INSERT INTO export_parts (export_id, number, trajectories) VALUES ($1, $2, $3)", id, i, part)
			jobs[i] = relabel.ExportJob{ExportID: id, Step: relabel.BuildPart, Part: i}
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return s.queueSteps(ctx, tx, e.FolderID, jobs...)
	})
}

// sizedTrajectory is a selected trajectory and the bytes of its texts.
type sizedTrajectory struct {
	relabel.PartTrajectory
	Bytes int64
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
	err := s.pool.QueryRow(ctx, `SELECT trajectories, done FROM export_parts WHERE export_id = $1 AND number = $2`, id, number).Scan(&p.Trajectories, &p.Done)
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
			err := s.pool.QueryRow(ctx, "SELECT done, summary, excluded FROM export_parts WHERE export_id = $1 AND number = $2", id, n).Scan(&done, &p.Summary, &p.Excluded)
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
