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

// retryUpdate requeues failed trajectories with their turns and ending, and resets all counts
// of failures.
const retryUpdate = `UPDATE trajectories SET state = 'queued', failure = NULL, failure_detail = NULL, ended_at = NULL,
	environment_failures = 0, waited_step = NULL, waited_ms = 0, fault = NULL, faults = 0, claimable_at = clock_timestamp() WHERE id = ANY ($1)`

// reopenLabels makes labels pending that became missing when the trajectories failed.
const reopenLabels = `WITH again AS (UPDATE actions a SET status = 'pending', reason = NULL FROM trajectories tr
		WHERE tr.id = ANY ($1) AND a.trajectory_id = tr.id AND a.attempt = tr.trail AND a.status = 'missing' AND starts_with(a.reason, $2)
		RETURNING a.trajectory_id),
	counts AS (SELECT trajectory_id, count(*) AS n FROM again GROUP BY trajectory_id)
	UPDATE trajectories tr SET labels_pending = labels_pending + n, labels_missing = labels_missing - n FROM counts WHERE tr.id = counts.trajectory_id`

// RetryFailed requeues the iteration's trajectories that failed for one of the reasons (none:
// any reason), with fresh budgets and their lost labels pending again, and returns their
// number. A done iteration runs again. Existing exports do not change. CodeConflict if the
// iteration was cancelled or its run is being deleted.
func (s *Store) RetryFailed(ctx context.Context, iteration relabel.ID, reasons []relabel.FailureReason) (retried int, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, ofIteration, iteration); err != nil {
			return err
		}
		if err := cancelOrRetry(ctx, tx, iteration); err != nil {
			return err
		}
		// Lock order: trajectories before their iteration.
		ids, err := readColumn[relabel.ID](ctx, tx,
			`SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'failed'
			AND (cardinality($2::text[]) = 0 OR failure = ANY ($2)) ORDER BY id FOR NO KEY UPDATE`, iteration, texts(reasons))
		if err != nil {
			return err
		}
		it, err := readIteration(ctx, tx, iteration)
		if err != nil {
			return err
		}
		if it.State == relabel.IterationCancelled {
			return relabel.Errorf(relabel.CodeConflict, "the iteration was cancelled")
		}
		retried = max(retried, len(ids)) // none are left after a commit that was unclear
		if len(ids) == 0 {
			return nil
		}
		return s.requeue(ctx, tx, iteration, ids)
	})
	return retried, err
}

func (s *Store) requeue(ctx context.Context, tx pgx.Tx, iteration relabel.ID, ids []relabel.ID) error {
	b := &pgx.Batch{}
	b.Queue(retryUpdate, ids)
	b.Queue(reopenLabels, ids, forgone)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE iterations SET state = 'running', ended_at = NULL, open = open + $2 WHERE id = $1", iteration, len(ids))
	if err != nil {
		return err
	}
	return s.wakeFor(ctx, tx, iteration, len(ids))
}

// texts is a list that Postgres accepts as an array of text, never null.
func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}
