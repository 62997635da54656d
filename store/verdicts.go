package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// insertVerdict stores a verdict as the newest of its trajectory. The caller has locked the
// trajectory, so that numbers are unique.
func insertVerdict(ctx context.Context, tx pgx.Tx, trajectory relabel.ID, attempt int, v relabel.Verdict) error {
	output := v.Output
	if output == nil {
		output = []byte{}
	}
	_, err := tx.Exec(ctx, `INSERT INTO verdicts (trajectory_id, attempt, number, passed, reason, tests, output, infra, protections, dropped, dropped_count, millis, canaries)
		SELECT $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM verdicts WHERE trajectory_id = $1`,
		trajectory, attempt, v.Passed, validUTF8(string(v.Reason)), v.Tests, output, validUTF8(v.Infra), v.Protections, keptPaths(v.Dropped), v.DroppedCount, v.Millis, v.Canaries)
	return err
}

// keptPaths are the dropped paths to store, valid for Postgres; nil if there are none.
func keptPaths(dropped []relabel.DroppedPath) []relabel.DroppedPath {
	if len(dropped) == 0 {
		return nil
	}
	kept := make([]relabel.DroppedPath, 0, min(len(dropped), relabel.MaxDroppedPaths))
	for _, d := range dropped[:cap(kept)] {
		kept = append(kept, relabel.DroppedPath{Path: validUTF8(d.Path), Reason: validUTF8(d.Reason)})
	}
	return kept
}

// ListVerdicts lists a trajectory's verdicts without their output, newest first; none if there
// is no such trajectory.
func (s *Store) ListVerdicts(ctx context.Context, trajectory relabel.ID) ([]relabel.Verdict, error) {
	return listAll[relabel.Verdict](ctx, s,
		verdictHeads+" WHERE v.trajectory_id = $1 ORDER BY v.number DESC", trajectory)
}
