package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// requeueUpdate gives trajectories back to the queue. Turns, ending and owed labels stay:
// the next attempt goes on from them.
const requeueUpdate = "UPDATE trajectories SET state = 'queued', owner = NULL, lease_until = NULL"

// Recovered is a trajectory that a dead worker left and that is queued again.
type Recovered struct {
	TrajectoryID relabel.ID
	InstanceID   string
	Was          relabel.TrajectoryState
	Owner        string // the worker that is gone
	Attempt      int    // the attempt that is lost
	Turns        int    // that were committed
	DockerHost   string // where its sandbox ran, and
	Container    string // its container; "" when it had none yet
}

// RecoverAbandoned gives back to the queue what dead workers left: trajectories whose
// lease has run out, and those whose owner dead knows to be gone, whatever their lease
// (nil knows of none). Their attempts are kept as lost. Jobs of workers that dead knows
// (a worker's queue client has its name) are available again, exports too, and every
// queued trajectory of a running iteration and every export that is not over has a job
// that will be worked. It may run at any time, in any number of processes.
func (s *Store) RecoverAbandoned(ctx context.Context, dead func(owner string) bool) ([]Recovered, error) {
	gone, err := s.goneOwners(ctx, dead)
	if err != nil {
		return nil, err
	}
	var recovered []Recovered
	err = s.write(ctx, func(tx pgx.Tx) error {
		if recovered, err = takeBack(ctx, tx, nil, gone); err != nil {
			return err
		}
		return s.reviveJobs(ctx, tx, recovered, gone)
	})
	return recovered, err
}

// goneOwners asks dead about everyone who owns a trajectory or works a job.
func (s *Store) goneOwners(ctx context.Context, dead func(owner string) bool) ([]string, error) {
	if dead == nil {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, `SELECT owner FROM trajectories WHERE state IN ('running', 'labelling', 'verifying')
		UNION SELECT attempted_by[cardinality(attempted_by)] FROM river_job WHERE state = 'running' AND cardinality(attempted_by) > 0`)
	owners, err := pgx.CollectRows(rows, pgx.RowTo[string])
	var gone []string
	for _, owner := range owners {
		if dead(owner) {
			gone = append(gone, owner)
		}
	}
	return gone, classify(err)
}

// takeBack requeues the owned trajectories whose lease is over or whose owner is gone,
// or the one trajectory only. Rows that another is at are left to it.
func takeBack(ctx context.Context, tx pgx.Tx, only *relabel.ID, gone []string) ([]Recovered, error) {
	lock := "FOR NO KEY UPDATE OF tr SKIP LOCKED"
	if only != nil {
		lock = "FOR NO KEY UPDATE OF tr"
	}
	rows, _ := tx.Query(ctx, fmt.Sprintf(`SELECT tr.id AS trajectory_id, ta.instance_id, tr.state AS was, tr.owner, tr.attempt, tr.turns,
		a.docker_host, a.container
		FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
		JOIN attempts a ON a.trajectory_id = tr.id AND a.number = tr.attempt
		WHERE tr.state IN ('running', 'labelling', 'verifying') AND ($1::uuid IS NULL OR tr.id = $1)
		AND (tr.lease_until <= clock_timestamp() OR tr.owner = ANY ($2)) ORDER BY tr.id %s`, lock), only, gone)
	recovered, err := pgx.CollectRows(rows, pgx.RowToStructByName[Recovered])
	if err != nil || len(recovered) == 0 {
		return nil, err
	}
	ids := make([]relabel.ID, len(recovered))
	for i, r := range recovered {
		ids[i] = r.TrajectoryID
	}
	if _, err := tx.Exec(ctx, requeueUpdate+" WHERE id = ANY ($1)", ids); err != nil {
		return nil, err
	}
	return recovered, endAttempts(ctx, tx, ids, "lost", "its worker is gone")
}

// endAttempts ends the trajectories' current attempts. The caller has locked the
// trajectories.
func endAttempts(ctx context.Context, tx pgx.Tx, ids []relabel.ID, outcome, reason string) error {
	_, err := tx.Exec(ctx, `UPDATE attempts a SET outcome = $2, reason = $3, ended_at = clock_timestamp() FROM trajectories tr
		WHERE tr.id = ANY ($1) AND a.trajectory_id = tr.id AND a.number = tr.attempt AND a.outcome IS NULL`, ids, outcome, reason)
	return err
}

// reviveJobs makes jobs whose worker is gone available again, and inserts those that
// queued trajectories of running iterations, and exports, lack. A job that runs while its trajectory
// is queued was just fetched, or is being put off; after two minutes it is dead. So is an
// export after two hours: it has no lease, and writing the same files twice does no harm.
func (s *Store) reviveJobs(ctx context.Context, tx pgx.Tx, recovered []Recovered, gone []string) error {
	ids := make([]string, len(recovered))
	for i, r := range recovered {
		ids[i] = r.TrajectoryID.String()
	}
	_, err := tx.Exec(ctx, `UPDATE river_job j SET state = 'available', scheduled_at = now(), max_attempts = greatest(j.max_attempts, j.attempt + 1)
		WHERE j.state = 'running' AND j.attempted_by[cardinality(j.attempted_by)] = ANY ($2)
		OR j.kind = 'rollout' AND j.state IN ('running', 'retryable', 'scheduled') AND j.args->>'trajectory_id' = ANY ($1)
		OR j.kind = 'export' AND j.state = 'running' AND j.attempted_at < now() - interval '2 hours'
		OR j.kind = 'rollout' AND j.state = 'running' AND j.attempted_at < now() - interval '2 minutes' AND EXISTS (
			SELECT 1 FROM trajectories tr WHERE tr.id = (j.args->>'trajectory_id')::uuid AND tr.state = 'queued')`, ids, gone)
	if err != nil {
		return err
	}
	rollouts, err := idsOf(ctx, tx, `SELECT tr.id FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id
		WHERE tr.state = 'queued' AND it.state = 'running' AND NOT EXISTS (
			SELECT 1 FROM river_job j WHERE j.kind = 'rollout' AND j.args->>'trajectory_id' = tr.id::text
			AND j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))`)
	if err != nil {
		return err
	}
	if err := s.queueRollouts(ctx, tx, rollouts); err != nil {
		return err
	}
	exports, err := idsOf(ctx, tx, `SELECT ex.id FROM exports ex WHERE ex.state IN ('queued', 'running') AND NOT EXISTS (
			SELECT 1 FROM river_job j WHERE j.kind = 'export' AND j.args->>'export_id' = ex.id::text
			AND j.state IN ('available', 'pending', 'retryable', 'running', 'scheduled'))`)
	if err != nil {
		return err
	}
	for _, id := range exports {
		if err := s.queueExport(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

func idsOf(ctx context.Context, tx pgx.Tx, query string) ([]relabel.ID, error) {
	rows, _ := tx.Query(ctx, query)
	return pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
}

// CountStates counts all trajectories by state; states without any are left out.
func (s *Store) CountStates(ctx context.Context) (map[relabel.TrajectoryState]int, error) {
	rows, _ := s.pool.Query(ctx, "SELECT state, count(*) FROM trajectories GROUP BY state")
	counts := map[relabel.TrajectoryState]int{}
	var state relabel.TrajectoryState
	var n int
	_, err := pgx.ForEachRow(rows, []any{&state, &n}, func() error {
		counts[state] = n
		return nil
	})
	return counts, classify(err)
}
