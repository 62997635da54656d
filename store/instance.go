package store

import (
	"context"

	"relabel"
)

// Instance is the id of this database. It labels sandboxes, so that several relabels on one
// engine never touch each other's.
func (s *Store) Instance(ctx context.Context) (string, error) {
	var id relabel.ID
	err := s.pool.QueryRow(ctx, "SELECT id FROM instance").Scan(&id)
	return id.String(), classify(err)
}

// LiveAttempts returns the current attempt of every trajectory that a worker with a live lease
// rolls out or grades again. Sandboxes of other attempts are orphaned.
func (s *Store) LiveAttempts(ctx context.Context) (map[relabel.ID]int, error) {
	live, err := readMap[relabel.ID, int](ctx, s.pool, `SELECT id, attempt FROM trajectories
		WHERE state IN ('running', 'labelling', 'verifying') AND lease_until > clock_timestamp()
		UNION SELECT tr.id, tr.attempt FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id
		WHERE re.state = 'running' AND re.lease_until > clock_timestamp()`)
	return live, classify(err)
}
