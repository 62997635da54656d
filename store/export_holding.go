package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// ListHolding lists which of a run's newest finished exports selected a trajectory, newest
// first, each with the part that it was put into. It looks at no more than so many.
func (s *Store) ListHolding(ctx context.Context, run, trajectory relabel.ID, newest int) ([]relabel.Holding, error) {
	// The text is looked through first: a part names hundreds of trajectories.
	rows, _ := s.pool.Query(ctx, `WITH seen AS MATERIALIZED (SELECT id FROM exports WHERE run_id = $1 AND state = 'done' ORDER BY created_at DESC, id DESC LIMIT $3)
		SELECT ex.*, p.number FROM seen JOIN export_parts p ON p.export_id = seen.id
			AND CASE WHEN strpos(p.trajectories::text, $2::text) = 0 THEN false
				ELSE EXISTS (SELECT 1 FROM json_array_elements(p.trajectories) tr WHERE tr->>'id' = $2::text) END
		JOIN LATERAL (`+exportSelect+` WHERE ex.id = seen.id) ex ON true
		ORDER BY ex.created_at DESC, ex.id DESC`, run, trajectory.String(), newest)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[holdingRow])
	holding := make([]relabel.Holding, len(list))
	for i, h := range list {
		holding[i] = relabel.Holding{Export: h.Export, Part: h.Number}
	}
	return holding, classify(err)
}

type holdingRow struct {
	relabel.Export
	Number int
}

// CountSelected counts what an export selected, by iteration; nothing before it is cut.
func (s *Store) CountSelected(ctx context.Context, export relabel.ID) ([]relabel.SelectedIteration, error) {
	rows, _ := s.pool.Query(ctx, `SELECT it.number, count(*), sum(p.turns), sum(p.labels)
		FROM export_parts ep CROSS JOIN LATERAL json_to_recordset(ep.trajectories) AS p(id uuid, turns integer, labels integer)
		JOIN trajectories tr ON tr.id = p.id JOIN iterations it ON it.id = tr.iteration_id
		WHERE ep.export_id = $1 GROUP BY it.number ORDER BY it.number`, export)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[relabel.SelectedIteration])
	return list, classify(err)
}
