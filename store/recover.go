package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// requeueUpdate gives trajectories back to the queue. Turns, ending and pending labels stay:
// the next attempt goes on from them.
const requeueUpdate = "UPDATE trajectories SET state = 'queued', owner = NULL, lease_until = NULL"

// RecoverAbandoned gives back to the queue what dead workers left: trajectories whose
// lease has run out, and those whose owner dead knows to be gone, whatever their lease
// (nil knows of none). Their attempts are kept as lost. Exports of workers that dead knows
// (a worker's queue client has its name) are available again, every export that is not
// over has a job, and as many wake-ups wait as there are trajectories to be claimed. It
// may run at any time, in any number of processes.
func (s *Store) RecoverAbandoned(ctx context.Context, dead func(owner string) bool) ([]relabel.Recovered, error) {
	gone, err := s.goneOwners(ctx, dead)
	if err != nil {
		return nil, err
	}
	return s.recover(ctx, gone)
}

// RecoverGone is RecoverAbandoned where dead knows of somebody, and does nothing where not.
func (s *Store) RecoverGone(ctx context.Context, dead func(owner string) bool) ([]relabel.Recovered, error) {
	gone, err := s.goneOwners(ctx, dead)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return s.recover(ctx, gone)
}

// TakeTurn reports whether the caller is to do now what one of all workers does for all,
// and that for period, during which it is nobody else's turn: what is asked of the whole
// database need not be asked by each of fifty workers.
func (s *Store) TakeTurn(ctx context.Context, period time.Duration) (mine bool, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		tag, err := tx.Exec(ctx, "UPDATE instance SET turn_at = clock_timestamp() WHERE turn_at <= clock_timestamp() - $1::interval", period)
		mine = err == nil && (again || tag.RowsAffected() > 0)
		return err
	})
	return mine, err
}

func (s *Store) recover(ctx context.Context, gone []string) (recovered []relabel.Recovered, err error) {
	err = s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		if recovered, err = takeBack(ctx, tx, nil, gone); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "DELETE FROM workers WHERE name = ANY ($1)", gone); err != nil {
			return err
		}
		return s.clearJobs(ctx, tx, gone)
	})
	if err != nil {
		return nil, err
	}
	return recovered, s.BalanceWakeups(ctx)
}

// goneOwners asks dead about everyone who owns a trajectory, works a job or is listed.
func (s *Store) goneOwners(ctx context.Context, dead func(owner string) bool) ([]string, error) {
	if dead == nil {
		return nil, nil
	}
	rows, _ := s.pool.Query(ctx, `SELECT owner FROM trajectories WHERE owner IS NOT NULL
		UNION SELECT name FROM workers
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
func takeBack(ctx context.Context, tx pgx.Tx, only *relabel.ID, gone []string) ([]relabel.Recovered, error) {
	lock := "FOR NO KEY UPDATE OF tr SKIP LOCKED"
	if only != nil {
		lock = "FOR NO KEY UPDATE OF tr"
	}
	rows, _ := tx.Query(ctx, fmt.Sprintf(`SELECT tr.id AS trajectory_id, ta.instance_id, tr.state AS was, tr.owner, tr.attempt, tr.turns,
		a.docker_host, a.container
		FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
		JOIN attempts a ON a.trajectory_id = tr.id AND a.number = tr.attempt
		WHERE tr.owner IS NOT NULL AND tr.state IN ('running', 'labelling', 'verifying') AND ($1::uuid IS NULL OR tr.id = $1)
		AND (tr.lease_until <= clock_timestamp() OR tr.owner = ANY ($2)) ORDER BY tr.id %s`, lock), only, gone)
	recovered, err := pgx.CollectRows(rows, pgx.RowToStructByName[relabel.Recovered])
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
