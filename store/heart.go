package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// fencesTable is a list of fences, given as the columns $1, $2 and $3, numbered from 1.
const fencesTable = "unnest($1::uuid[], $2::integer[], $3::text[]) WITH ORDINALITY AS f(id, attempt, owner, n)"

func fenceColumns(fences []relabel.Fence) []any {
	ids, attempts, owners := make([]relabel.ID, len(fences)), make([]int, len(fences)), make([]string, len(fences))
	for i, f := range fences {
		ids[i], attempts[i], owners[i] = f.TrajectoryID, f.Attempt, f.Owner
	}
	return []any{ids, attempts, owners}
}

// Look says how each of the fences' trajectories stands, in the order of fences. It
// waits for no lock.
func (s *Store) Look(ctx context.Context, fences []relabel.Fence) ([]relabel.Standing, error) {
	standings := make([]relabel.Standing, len(fences))
	// What is paused is read once, and not for each fence by way of its iteration: that row
	// changes with each trajectory that ends.
	rows, _ := s.heart.Query(ctx, `WITH paused AS MATERIALIZED (SELECT it.id FROM iterations it JOIN runs ru ON ru.id = it.run_id
			WHERE it.state = 'running' AND (it.paused IS NOT NULL OR ru.paused IS NOT NULL))
		SELECT f.n, tr.iteration_id IN (SELECT id FROM paused) FROM `+fencesTable+`
		JOIN trajectories tr ON tr.id = f.id AND tr.attempt = f.attempt AND tr.owner = f.owner AND tr.lease_until > clock_timestamp()`, fenceColumns(fences)...)
	var n int
	var paused bool
	_, err := pgx.ForEachRow(rows, []any{&n, &paused}, func() error {
		standings[n-1] = relabel.Standing{Held: true, Paused: paused}
		return nil
	})
	return standings, classify(err)
}

const renewUpdate = `WITH free AS (SELECT tr.id, f.n FROM ` + fencesTable + `
		JOIN trajectories tr ON tr.id = f.id AND tr.attempt = f.attempt AND tr.owner = f.owner AND tr.lease_until > clock_timestamp()
		ORDER BY tr.id FOR NO KEY UPDATE OF tr SKIP LOCKED)
	UPDATE trajectories tr SET lease_until = clock_timestamp() + $4::interval FROM free WHERE tr.id = free.id RETURNING free.n`

// Renew extends the leases of the fences that hold, counted from now by the database's
// clock, in one statement, and says of each whether it did, in the order of fences. It
// waits for no lock: what another transaction is at is left for the next time, so that
// one stuck writer costs no other trajectory its lease. A lease that ran out is not
// renewed, whether or not somebody took the trajectory.
func (s *Store) Renew(ctx context.Context, fences []relabel.Fence, lease time.Duration) ([]bool, error) {
	var renewed []bool
	err := s.retry(ctx, true, func(bool) (unclear bool, err error) {
		renewed = make([]bool, len(fences))
		rows, _ := s.heart.Query(ctx, renewUpdate, append(fenceColumns(fences), lease)...)
		var n int
		_, err = pgx.ForEachRow(rows, []any{&n}, func() error {
			renewed[n-1] = true
			return nil
		})
		return false, err
	})
	return renewed, err
}
