package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// ListHolding lists which of a run's newest finished exports selected a trajectory, newest
// first, each with its part. It reads at most newest exports.
func (s *Store) ListHolding(ctx context.Context, run, trajectory relabel.ID, newest int) ([]relabel.Holding, error) {
	// The text search comes first: a part names hundreds of trajectories.
	list, err := readAll[holdingRow](ctx, s.pool,
		`WITH seen AS MATERIALIZED (SELECT id FROM exports e WHERE (run_id = $1 OR EXISTS (SELECT FROM export_sources WHERE export_id = e.id AND run_id = $1))
			AND state = 'done' ORDER BY created_at DESC, id DESC LIMIT $3)
		SELECT ex.*, p.number FROM seen JOIN export_parts p ON p.export_id = seen.id
			AND CASE WHEN strpos(p.trajectories::text, $2::text) = 0 THEN false
				ELSE EXISTS (SELECT 1 FROM json_array_elements(p.trajectories) tr WHERE tr->>'id' = $2::text) END
		JOIN LATERAL (`+exportSelect+` WHERE ex.id = seen.id) ex ON true
		ORDER BY ex.created_at DESC, ex.id DESC`, run, trajectory.String(), newest)
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

// CountSelected counts what an export selected and excluded, by iteration; nothing before the
// export is cut.
func (s *Store) CountSelected(ctx context.Context, export relabel.ID) (list []relabel.SelectedIteration, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		list = nil
		rows, _ := tx.Query(ctx, `SELECT p.id, it.number, p.turns, p.labels
			FROM export_parts ep CROSS JOIN LATERAL json_to_recordset(ep.trajectories) AS p(id uuid, turns integer, labels integer)
			JOIN trajectories tr ON tr.id = p.id JOIN iterations it ON it.id = tr.iteration_id
			WHERE ep.export_id = $1 ORDER BY it.number`, export)
		of := map[relabel.ID]int{} // place in the list
		var id relabel.ID
		var one relabel.SelectedIteration
		_, err := pgx.ForEachRow(rows, []any{&id, &one.Number, &one.Turns, &one.Labels}, func() error {
			if len(list) == 0 || list[len(list)-1].Number != one.Number {
				list = append(list, relabel.SelectedIteration{Number: one.Number, Excluded: map[string]int{}})
			}
			it := &list[len(list)-1]
			it.Trajectories, it.Turns, it.Labels = it.Trajectories+1, it.Turns+one.Turns, it.Labels+one.Labels
			of[id] = len(list) - 1
			return nil
		})
		if err != nil {
			return err
		}
		return countExcluded(ctx, tx, export, func(trajectory relabel.ID, reason string, states int) {
			if at, known := of[trajectory]; known && states > 0 {
				list[at].Excluded[reason] += states
			}
		})
	})
	return list, classify(err)
}

// countExcluded reads the exclusions of an export, one part at a time, with the reasons of its counts.
func countExcluded(ctx context.Context, tx pgx.Tx, export relabel.ID, count func(trajectory relabel.ID, reason string, states int)) error {
	rows, _ := tx.Query(ctx, "SELECT excluded FROM export_parts WHERE export_id = $1 AND done", export)
	var text []byte
	_, err := pgx.ForEachRow(rows, []any{&text}, func() error {
		for lines := json.NewDecoder(bytes.NewReader(text)); ; {
			var line struct {
				Reason     string     `json:"reason"`
				Trajectory relabel.ID `json:"trajectory"`
				States     int        `json:"states"`
				Detail     string     `json:"detail"`
			}
			if err := lines.Decode(&line); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if line.Reason == "benchmark" && line.Detail != "" {
				line.Reason = relabel.BenchmarkReason(line.Detail)
			}
			count(line.Trajectory, line.Reason, line.States)
		}
	})
	return err
}
