package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
)

// claimSet is the change of a claim by $2: the next attempt runs, or labels if the rollout has
// ended. Existing turns stay with their attempt until they are replayed (AdoptTurns).
const claimSet = ` state = CASE WHEN end_reason IS NULL THEN 'running' ELSE 'labelling' END,
	attempt = attempt + 1, trail = CASE WHEN turns = 0 THEN attempt + 1 ELSE trail END, owner = $2,
	lease_until = clock_timestamp() + $3::interval, started_at = coalesce(started_at, clock_timestamp()) `

// claimUpdate assigns a queued trajectory to $2.
const claimUpdate = "UPDATE trajectories SET" + claimSet +
	`WHERE id = $1 AND state = 'queued' AND claimable_at <= clock_timestamp() RETURNING attempt, run_id, iteration_id,
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
	var run, iteration relabel.ID
	var waited int64
	err := tx.QueryRow(ctx, claimUpdate, c.TrajectoryID, c.Owner, lease).Scan(&c.Attempt, &run, &iteration, &c.Waited.Step, &waited)
	if err != nil {
		return err
	}
	c.Waited.For = time.Duration(waited) * time.Millisecond
	return readClaim(ctx, tx, c, run, iteration)
}

// unclaimable returns the reason why a trajectory cannot be claimed.
func unclaimable(ctx context.Context, tx pgx.Tx, id relabel.ID) error {
	state, err := readValue[relabel.TrajectoryState](ctx, tx, "SELECT state FROM trajectories WHERE id = $1", id)
	if err != nil {
		return notFound("trajectory", id, err)
	}
	return relabel.Errorf(relabel.CodeConflict, "the trajectory is %s: it cannot be claimed", state)
}

// readClaim opens the attempt and reads what a rollout needs.
func readClaim(ctx context.Context, tx pgx.Tx, c *relabel.Claim, run, iteration relabel.ID) error {
	b := &pgx.Batch{}
	b.Queue("INSERT INTO attempts (trajectory_id, number, worker) VALUES ($1, $2, $3)", c.TrajectoryID, c.Attempt, c.Owner)
	readInto(b, &c.Trajectory, pgx.RowToStructByName[relabel.Trajectory], trajectorySelect+" WHERE tr.id = $1", c.TrajectoryID)
	readInto(b, &c.Iteration, pgx.RowToStructByName[relabel.Iteration], iterationSelect+" WHERE it.id = $1", iteration)
	readInto(b, &c.Run, pgx.RowToStructByName[relabel.Run], runSelect+" WHERE ru.id = $1", run)
	readInto(b, &c.Task, scanTask, taskOfTrajectory, c.TrajectoryID)
	queueTests(b, &c.Task, c.TrajectoryID)
	var teacher []relabel.Policy // none in a run without one
	queueRead(b, &teacher, pgx.RowToStructByName[relabel.Policy],
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
	for _, p := range teacher {
		c.Teacher = p
	}
	c.Run.Limits = c.Iteration.LimitsIn(c.Run)
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

// Bounds on how often in a row one fault may occur at one step; the last one fails the
// trajectory. After an outage of the database, pauses double from outagePause up to lastOutage:
// 25 minutes in all.
const (
	mostFaults  = 3
	mostOutages = 10
	outagePause = 10 * time.Second
	lastOutage  = 5 * time.Minute
)

// ReleaseWaiting is Release of a trajectory whose endpoint is down. It adds to the time spent
// waiting at the step, over consecutive attempts. Claims skip down endpoints (SeeEndpoints).
func (s *Store) ReleaseWaiting(ctx context.Context, f relabel.Fence, at relabel.Wait, why string) error {
	return s.take(ctx, f, step{to: relabel.Queued, outcome: "released", reason: "its endpoint is down: " + why, tried: "be released",
		set:  queuedSet + ", waited_step = $4, waited_ms = CASE WHEN waited_step = $4 THEN waited_ms ELSE 0 END + $5",
		args: []any{at.Step, at.For.Milliseconds()}}, nil)
}

// errRepeats means that a fault repeats too often for a release.
var errRepeats = errors.New("the same fault occurred at the same step too often")

// ReleaseFault is Release after a fault that may be transient. again is false, and nothing
// changes, if it is the mostFaults-th fault in a row at this step, or the mostOutages-th for an
// outage of the database.
func (s *Store) ReleaseFault(ctx context.Context, f relabel.Fence, at string, fault error) (again bool, err error) {
	signature, outage := signatureOf(fault)
	most, pause := mostFaults, time.Duration(0)
	if outage {
		most, pause = mostOutages, outagePause
	}
	named := at + ": " + signature
	err = s.take(ctx, f, step{to: relabel.Queued, outcome: "released", reason: "released by its worker after a fault: " + signature, tried: "be released",
		check: func(tx pgx.Tx) error { return checkRepeats(ctx, tx, f, named, most) },
		set: queuedSet + `, fault = $4, faults = CASE WHEN fault = $4 THEN faults + 1 ELSE 1 END,
			claimable_at = clock_timestamp() + least($5::interval * power(2, CASE WHEN fault = $4 THEN least(faults, 20) ELSE 0 END), $6::interval)`,
		args: []any{named, pause, lastOutage}}, nil)
	if errors.Is(err, errRepeats) {
		return false, nil
	}
	return err == nil, err
}

// checkRepeats returns errRepeats if the fault has occurred most-1 times in a row.
func checkRepeats(ctx context.Context, tx pgx.Tx, f relabel.Fence, fault string, most int) error {
	repeats, err := readValue[bool](ctx, tx,
		"SELECT fault IS NOT DISTINCT FROM $4 AND faults >= $5 FROM trajectories WHERE"+fenced+"FOR NO KEY UPDATE",
		f.TrajectoryID, f.Attempt, f.Owner, fault, most-1)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err == nil && repeats:
		return errRepeats
	}
	return err
}

// signatureOf identifies a fault: by SQLSTATE and constraint of a server's error, else by code
// and message. outage reports whether the database is down.
func signatureOf(fault error) (signature string, outage bool) {
	var pg *pgconn.PgError
	switch {
	case errors.As(fault, &pg):
		signature = strings.TrimSpace("SQLSTATE " + pg.Code + " " + pg.ConstraintName)
		return signature, shutDown(pg) || strings.HasPrefix(pg.Code, "53") || strings.HasPrefix(pg.Code, "58")
	case errors.Is(fault, context.DeadlineExceeded):
		return "no answer within the time limit", false
	}
	return validUTF8(string(relabel.CodeOf(fault)) + ": " + relabel.Shown(fault)), broken(fault)
}
