package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// queuedSet returns a trajectory to the queue with its turns, ending and pending labels, from
// which the next attempt continues.
const queuedSet = "state = 'queued', owner = NULL, lease_until = NULL"

const requeueUpdate = "UPDATE trajectories SET " + queuedSet

// RecoverAbandoned requeues the trajectories of dead workers: those with an expired lease, and
// those whose owner dead reports (nil: none). Their attempts are kept as lost. It makes the
// export jobs of dead workers available again (the name of a queue client is the worker's),
// adds the missing jobs of exports, and balances wake-ups. It is safe to call at any time, in
// any number of processes.
func (s *Store) RecoverAbandoned(ctx context.Context, dead func(owner string) bool) ([]relabel.Recovered, error) {
	gone, err := s.goneOwners(ctx, dead)
	if err != nil {
		return nil, err
	}
	return s.recover(ctx, gone)
}

// RecoverGone is RecoverAbandoned, unless dead reports nobody: then it does nothing.
func (s *Store) RecoverGone(ctx context.Context, dead func(owner string) bool) ([]relabel.Recovered, error) {
	gone, err := s.goneOwners(ctx, dead)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	return s.recover(ctx, gone)
}

// TakeTurn reports whether the caller gets the turn for a task that one worker does for all, at
// most once per period. It spares the database the same query from each of fifty workers.
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

// goneOwners calls dead for everyone who owns a trajectory, runs a job or is listed.
func (s *Store) goneOwners(ctx context.Context, dead func(owner string) bool) ([]string, error) {
	if dead == nil {
		return nil, nil
	}
	owners, err := readColumn[string](ctx, s.pool, `SELECT owner FROM trajectories WHERE owner IS NOT NULL
		UNION SELECT name FROM workers
		UNION SELECT attempted_by[cardinality(attempted_by)] FROM river_job WHERE state = 'running' AND cardinality(attempted_by) > 0`)
	var gone []string
	for _, owner := range owners {
		if dead(owner) {
			gone = append(gone, owner)
		}
	}
	return gone, classify(err)
}

// takeBack requeues the owned trajectories whose lease has expired or whose owner is gone, or
// only the given one. It skips rows that others have locked.
func takeBack(ctx context.Context, tx pgx.Tx, only *relabel.ID, gone []string) ([]relabel.Recovered, error) {
	lock := "FOR NO KEY UPDATE OF tr SKIP LOCKED"
	if only != nil {
		lock = "FOR NO KEY UPDATE OF tr"
	}
	recovered, err := readAll[relabel.Recovered](ctx, tx,
		fmt.Sprintf(`SELECT tr.id AS trajectory_id, ta.instance_id, tr.state AS was, tr.owner, tr.attempt, tr.turns,
		a.docker_host, a.container
		FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
		JOIN attempts a ON a.trajectory_id = tr.id AND a.number = tr.attempt
		WHERE tr.owner IS NOT NULL AND tr.state IN ('running', 'labelling', 'verifying') AND ($1::uuid IS NULL OR tr.id = $1)
		AND (tr.lease_until <= clock_timestamp() OR tr.owner = ANY ($2)) ORDER BY tr.id %s`, lock), only, gone)
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

// CountStates counts all trajectories by state.
func (s *Store) CountStates(ctx context.Context) (map[relabel.TrajectoryState]int, error) {
	counts, err := readMap[relabel.TrajectoryState, int](ctx, s.pool, "SELECT state, count(*) FROM trajectories GROUP BY state")
	return counts, classify(err)
}
