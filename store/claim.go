package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// claimSet is the change of a claim by $2: the next attempt runs, or labels if the rollout has
// ended. Existing turns stay with their attempt until they are replayed (AdoptTurns).
const claimSet = ` state = CASE WHEN end_reason IS NULL THEN 'running' ELSE 'labelling' END,
	attempt = attempt + 1, trail = CASE WHEN turns = 0 THEN attempt + 1 ELSE trail END, owner = $2,
	lease_until = clock_timestamp() + $3::interval, started_at = coalesce(started_at, clock_timestamp()) `

// claimUpdate assigns a queued trajectory to $2.
const claimUpdate = "UPDATE trajectories SET" + claimSet +
	`WHERE id = $1 AND state = 'queued' AND claimable_at <= clock_timestamp() RETURNING attempt, run_id, iteration_id, task_id,
	coalesce(waited_step, ''), waited_ms`

// Claim assigns the trajectory to owner, with attempt+1, the state running (labelling if the
// rollout has ended), a lease by the database's clock, and the results of earlier attempts. It
// takes over a trajectory whose lease has expired. CodeConflict if it cannot be claimed,
// CodeNotFound if there is none.
func (s *Store) Claim(ctx context.Context, trajectory relabel.ID, owner string, lease time.Duration) (relabel.Claim, error) {
	c := relabel.Claim{Fence: relabel.Fence{TrajectoryID: trajectory, Owner: owner}}
	if err := checkClaim(owner, lease); err != nil {
		return c, err
	}
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		err := claim(ctx, tx, &c, lease)
		if errors.Is(err, pgx.ErrNoRows) { // owned: free it if the lease is over, and try once more
			if _, err = takeBack(ctx, tx, &trajectory, nil); err == nil {
				err = claim(ctx, tx, &c, lease)
			}
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return unclaimable(ctx, tx, trajectory)
		}
		return err
	})
	if err != nil {
		return relabel.Claim{}, err
	}
	return c, nil
}

func checkClaim(owner string, lease time.Duration) error {
	if owner == "" || lease <= 0 {
		return relabel.Errorf(relabel.CodeInvalid, "a claim needs an owner and a lease")
	}
	return nil
}

// claim assigns a queued trajectory to the claim's owner and reads what a rollout needs.
// pgx.ErrNoRows if it is not queued.
func claim(ctx context.Context, tx pgx.Tx, c *relabel.Claim, lease time.Duration) error {
	var run, iteration, task relabel.ID
	var waited int64
	err := tx.QueryRow(ctx, claimUpdate, c.TrajectoryID, c.Owner, lease).Scan(&c.Attempt, &run, &iteration, &task, &c.Waited.Step, &waited)
	if err != nil {
		return err
	}
	c.Waited.For = time.Duration(waited) * time.Millisecond
	return readClaim(ctx, tx, c, run, iteration, task)
}

// unclaimable returns the reason why a trajectory cannot be claimed.
func unclaimable(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	var state relabel.TrajectoryState
	if err := tx.QueryRow(ctx, "SELECT state FROM trajectories WHERE id = $1", id).Scan(&state); err != nil {
		return notFound("trajectory", id, err)
	}
	return relabel.Errorf(relabel.CodeConflict, "the trajectory is %s: it cannot be claimed", state)
}

// readClaim opens the attempt and reads what a rollout needs.
func readClaim(ctx context.Context, tx pgx.Tx, c *relabel.Claim, run, iteration, task relabel.ID) error {
	b := &pgx.Batch{}
	b.Queue("INSERT INTO attempts (trajectory_id, number, worker) VALUES ($1, $2, $3)", c.TrajectoryID, c.Attempt, c.Owner)
	readInto(b, &c.Trajectory, pgx.RowToStructByName[relabel.Trajectory], trajectorySelect+" WHERE tr.id = $1", c.TrajectoryID)
	readInto(b, &c.Iteration, pgx.RowToStructByName[relabel.Iteration], iterationSelect+" WHERE it.id = $1", iteration)
	readInto(b, &c.Run, pgx.RowToStructByName[relabel.Run], runSelect+" WHERE ru.id = $1", run)
	readInto(b, &c.Task, scanTask, taskSelect+" WHERE ta.id = $1", task)
	readInto(b, &c.Teacher, pgx.RowToStructByName[relabel.Policy],
		policySelect+" JOIN runs ru ON ru.teacher_id = po.id WHERE ru.id = $1", run)
	readInto(b, &c.Student, pgx.RowToStructByName[relabel.Policy],
		policySelect+" JOIN iterations it ON it.student_id = po.id WHERE it.id = $1", iteration)
	// An attempt that was released or has ended removed its sandbox. One that was lost or
	// cancelled, or whose sandbox broke, may have left it.
	c.Abandoned = nil
	queueRead(b, &c.Abandoned, pgx.RowTo[string], `SELECT container FROM attempts WHERE trajectory_id = $1 AND number < $2
		AND container <> '' AND outcome IN ('lost', 'environment', 'diverged', 'cancelled') ORDER BY number`, c.TrajectoryID, c.Attempt)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	return readTrail(ctx, tx, c)
}

// readInto queues a query for exactly one row.
func readInto[T any](b *pgx.Batch, into *T, scan pgx.RowToFunc[T], sql string, args ...any) {
	b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, scan)
		return err
	})
}

// SetSandbox records which container on which engine the attempt uses. CodeLeaseLost
// if the fence does not hold.
func (s *Store) SetSandbox(ctx context.Context, f relabel.Fence, dockerHost, container string) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		return execOrElse(ctx, tx, func() error { return refusal(ctx, tx, f, "have a sandbox") }, `UPDATE attempts
			SET docker_host = $4, container = $5
			WHERE trajectory_id = $1 AND number = $2 AND EXISTS (SELECT 1 FROM trajectories WHERE`+fenced+`FOR NO KEY UPDATE)`,
			f.TrajectoryID, f.Attempt, f.Owner, validUTF8(dockerHost), validUTF8(container))
	})
}

// Release returns the trajectory to the queue with its turns, ending and pending labels, and
// queues a wake-up. The attempt is kept as released. CodeLeaseLost if the fence does not hold.
func (s *Store) Release(ctx context.Context, f relabel.Fence) error {
	return s.take(ctx, f, step{to: relabel.Queued, outcome: "released", reason: "released by its worker", tried: "be released", set: queuedSet}, nil)
}

// ReleaseBroken releases the trajectory because its sandbox, or the verifier's, broke. It
// counts the failure; the next claim waits for pause. broken, if not nil, is the action that
// broke the sandbox: later claims include it until its turn is committed.
func (s *Store) ReleaseBroken(ctx context.Context, f relabel.Fence, detail string, pause time.Duration, broken *relabel.BrokenTurn) error {
	stored, err := encodeBroken(broken)
	if err != nil {
		return err
	}
	st := step{to: relabel.Queued, outcome: "environment", reason: detail, tried: "be released", args: []any{pause},
		set: queuedSet + ", environment_failures = environment_failures + 1, claimable_at = clock_timestamp() + $4::interval"}
	return s.take(ctx, f, st, func(tx pgx.Tx, _ relabel.ID) error {
		if broken == nil {
			return nil
		}
		_, err := tx.Exec(ctx, "UPDATE attempts SET broke_at = $3, broken = $4 WHERE trajectory_id = $1 AND number = $2", f.TrajectoryID, f.Attempt, broken.T, stored)
		return err
	})
}
