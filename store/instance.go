package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// Instance is the id of this database. Sandboxes are labelled with it, so that several
// relabels on one engine never touch each other's.
func (s *Store) Instance(ctx context.Context) (string, error) {
	var id relabel.ID
	err := s.pool.QueryRow(ctx, "SELECT id FROM instance").Scan(&id)
	return id.String(), classify(err)
}

// LiveAttempts returns the current attempt of every trajectory that a worker rolls out or
// grades again with a live lease: a sandbox of any other attempt belongs to nobody.
func (s *Store) LiveAttempts(ctx context.Context) (map[relabel.ID]int, error) {
	rows, _ := s.pool.Query(ctx, `SELECT id, attempt FROM trajectories
		WHERE state IN ('running', 'labelling', 'verifying') AND lease_until > clock_timestamp()
		UNION SELECT tr.id, tr.attempt FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id
		WHERE re.state = 'running' AND re.lease_until > clock_timestamp()`)
	live := map[relabel.ID]int{}
	var id relabel.ID
	var attempt int
	_, err := pgx.ForEachRow(rows, []any{&id, &attempt}, func() error {
		live[id] = attempt
		return nil
	})
	return live, classify(err)
}
