package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// fencesTable is a table of fences from the columns $1, $2 and $3, numbered from 1.
const fencesTable = "unnest($1::uuid[], $2::integer[], $3::text[]) WITH ORDINALITY AS f(id, attempt, owner, n)"

func fenceColumns(fences []relabel.Fence) []any {
	ids, attempts, owners := make([]relabel.ID, len(fences)), make([]int, len(fences)), make([]string, len(fences))
	for i, f := range fences {
		ids[i], attempts[i], owners[i] = f.TrajectoryID, f.Attempt, f.Owner
	}
	return []any{ids, attempts, owners}
}

// Look returns the standing of each fence's trajectory, in the order of fences. It does
// not wait for locks.
func (s *Store) Look(ctx context.Context, fences []relabel.Fence) ([]relabel.Standing, error) {
	standings := make([]relabel.Standing, len(fences))
	// One read lists all paused iterations. A join per fence would read iteration rows, which
	// change whenever a trajectory ends.
	rows, _ := s.leases.Query(ctx, `WITH paused AS MATERIALIZED (SELECT it.id FROM iterations it JOIN runs ru ON ru.id = it.run_id
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

// Renew extends the leases of valid fences in one statement, counted from now by the
// database's clock. It reports for each fence, in order, whether it was renewed. It skips
// locked rows until the next renewal, so that a stuck writer cannot cost another
// trajectory its lease. An expired lease is not renewed, even if nobody took the trajectory.
func (s *Store) Renew(ctx context.Context, fences []relabel.Fence, lease time.Duration) ([]bool, error) {
	var renewed []bool
	err := s.retry(ctx, true, func(bool) (unclear bool, err error) {
		renewed = make([]bool, len(fences))
		rows, _ := s.leases.Query(ctx, renewUpdate, append(fenceColumns(fences), lease)...)
		var n int
		_, err = pgx.ForEachRow(rows, []any{&n}, func() error {
			renewed[n-1] = true
			return nil
		})
		return false, err
	})
	return renewed, err
}
