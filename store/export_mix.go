package store

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// insertSources records the further sources of a mix, which cannot be deleted while the export is built.
func insertSources(ctx context.Context, tx pgx.Tx, e relabel.Export) error {
	for n := 1; n < e.Sources(); n++ {
		sel := e.Source(n).Selection
		run, set, err := keepSource(ctx, tx, sel)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO export_sources (export_id, number, run_id, conversation_set_id) VALUES ($1, $2, $3, $4)", e.ID, n, run, set); err != nil {
			return err
		}
	}
	return nil
}

// keepSource locks the run or the conversation set of a source against its deletion, and returns its id.
func keepSource(ctx context.Context, tx pgx.Tx, sel relabel.ExportSelection) (run, set *relabel.ID, err error) {
	if sel.Conversations == nil {
		return &sel.RunID, nil, keepRun(ctx, tx, itself, sel.RunID)
	}
	_, err = readValue[relabel.ID](ctx, tx, "SELECT id FROM conversation_sets WHERE id = $1 FOR KEY SHARE", sel.Conversations.ID)
	return nil, &sel.Conversations.ID, notFound("conversation set", sel.Conversations.Name, err)
}

// cutSources cuts the selections of all sources into parts, from one snapshot. Each part has trajectories of
// one source. Trajectories that an earlier source selects are omitted and counted.
func (s *Store) cutSources(ctx context.Context, e relabel.Export, partBytes int64) (parts []relabel.ExportPart, counts []relabel.ComparedLabels, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		parts, counts = nil, make([]relabel.ComparedLabels, e.Sources())
		seen := map[relabel.ID]bool{}
		for n := range e.Sources() {
			sel := e.Source(n).Selection
			if sel.Conversations != nil {
				chunks, err := cutConversations(ctx, tx, n, *sel.Conversations)
				if err != nil {
					return err
				}
				parts = append(parts, chunks...)
				continue
			}
			all, err := selected(ctx, tx, sel)
			if err != nil {
				return err
			}
			fresh := unseen(all, seen)
			counts[n].Overlapping = len(all) - len(fresh)
			for _, trajectories := range cut(fresh, partBytes) {
				parts = append(parts, relabel.ExportPart{Source: n, Trajectories: trajectories})
			}
		}
		return nil
	})
	return parts, counts, err
}

// unseen returns the trajectories that are not in seen, and adds them to it.
func unseen(all []sizedTrajectory, seen map[relabel.ID]bool) []sizedTrajectory {
	fresh := all[:0]
	for _, tr := range all {
		if !seen[tr.ID] {
			fresh = append(fresh, tr)
		}
		seen[tr.ID] = true
	}
	return fresh
}

// SignExportPart stores the signatures of a part's labels, which may be none. The last part queues the comparison.
// Repeating it changes nothing.
func (s *Store) SignExportPart(ctx context.Context, id relabel.ID, part int, signatures []byte) error {
	if signatures == nil { // NULL would say that the part is not signed yet
		signatures = []byte{}
	}
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		folder, err := lockComparing(ctx, tx, id)
		if err != nil || folder == nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE export_parts SET signatures = $3 WHERE export_id = $1 AND number = $2", id, part, signatures); err != nil {
			return err
		}
		if err := waitsNoMore(ctx, tx, id); err != nil {
			return err
		}
		open, err := readValue[bool](ctx, tx, "SELECT EXISTS (SELECT 1 FROM export_parts WHERE export_id = $1 AND signatures IS NULL)", id)
		if err != nil || open {
			return err
		}
		return s.queueSteps(ctx, tx, *folder, relabel.ExportJob{ExportID: id, Step: relabel.CompareExport})
	})
}

// lockComparing locks a running export and returns its folder, nil if its labels have been compared.
// CodeConflict if it is over.
func lockComparing(ctx context.Context, tx pgx.Tx, id relabel.ID) (*string, error) {
	var folder string
	var comparing bool
	err := tx.QueryRow(ctx, "SELECT folder, comparing FROM exports WHERE id = $1 AND state = 'running' FOR UPDATE", id).Scan(&folder, &comparing)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, exportOver(ctx, tx, id)
	case err != nil || !comparing:
		return nil, err
	}
	return &folder, nil
}

// ExportSignatures yields the signatures of each part, in order, one part at a time in memory.
func (s *Store) ExportSignatures(ctx context.Context, id relabel.ID) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for n := 0; ; n++ {
			signatures, err := readValue[[]byte](ctx, s.pool, "SELECT signatures FROM export_parts WHERE export_id = $1 AND number = $2", id, n)
			if n > 0 && errors.Is(err, pgx.ErrNoRows) {
				return
			}
			if !yield(signatures, notFound("export's parts", id, err)) || err != nil {
				return
			}
		}
	}
}

// FinishComparison stores what the comparison counted of each source and excludes of each part, and queues the
// parts. Repeating it changes nothing.
func (s *Store) FinishComparison(ctx context.Context, id relabel.ID, counts []relabel.ComparedLabels, dropped map[int][]relabel.DroppedLabel) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		folder, err := lockComparing(ctx, tx, id)
		if err != nil || folder == nil {
			return err
		}
		earlier, err := readValue[[]relabel.ComparedLabels](ctx, tx, "SELECT coalesce(compared, '[]') FROM exports WHERE id = $1", id)
		if err != nil {
			return err
		}
		for n := range min(len(earlier), len(counts)) {
			counts[n].Overlapping = earlier[n].Overlapping
		}
		b := &pgx.Batch{}
		b.Queue("UPDATE exports SET comparing = false, compared = $2, waiting = NULL, waiting_since = NULL WHERE id = $1", id, counts)
		b.Queue("UPDATE export_parts SET signatures = NULL WHERE export_id = $1", id)
		for part, labels := range dropped {
			b.Queue("UPDATE export_parts SET dropped = $3 WHERE export_id = $1 AND number = $2", id, part, labels)
		}
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		numbers, err := readValue[int](ctx, tx, "SELECT count(*) FROM export_parts WHERE export_id = $1", id)
		if err != nil {
			return err
		}
		jobs := make([]relabel.ExportJob, numbers)
		for i := range jobs {
			jobs[i] = relabel.ExportJob{ExportID: id, Step: relabel.BuildPart, Part: i}
		}
		return s.queueSteps(ctx, tx, *folder, jobs...)
	})
}
