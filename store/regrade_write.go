package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// regradingsDue are the claimable regradings re. Those of paused runs and iterations wait.
const regradingsDue = ` FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN iterations it ON it.id = tr.iteration_id
	JOIN runs ru ON ru.id = tr.run_id WHERE (re.state = 'queued' AND re.due_at <= clock_timestamp() OR re.state = 'running' AND re.lease_until <= clock_timestamp())
	AND it.paused IS NULL AND ru.paused IS NULL `

// ClaimRegrading claims the regrading that has been due for longest. One with an expired lease
// is due and counts a try. CodeNotFound if none is due.
func (s *Store) ClaimRegrading(ctx context.Context, owner string, length time.Duration) (relabel.RegradeClaim, error) {
	var c relabel.RegradeClaim
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		c = relabel.RegradeClaim{RegradeFence: relabel.RegradeFence{Owner: owner}}
		var trajectory relabel.ID
		err := tx.QueryRow(ctx, `UPDATE regradings SET tries = tries + CASE state WHEN 'running' THEN 1 ELSE 0 END, state = 'running', claim = claim + 1, owner = $1,
				lease_until = clock_timestamp() + $2::interval, started_at = coalesce(started_at, clock_timestamp())
			WHERE id = (SELECT re.id`+regradingsDue+`ORDER BY re.due_at, re.id LIMIT 1 FOR NO KEY UPDATE OF re SKIP LOCKED)
			RETURNING id, claim, trajectory_id`, owner, length).Scan(&c.RegradingID, &c.Claim, &trajectory)
		if errors.Is(err, pgx.ErrNoRows) {
			return relabel.Errorf(relabel.CodeNotFound, "nothing to grade again now")
		}
		if err != nil {
			return err
		}
		var run relabel.Run
		b := &pgx.Batch{}
		readInto(b, &c.Trajectory, pgx.RowToStructByName[relabel.Trajectory], trajectorySelect+" WHERE tr.id = $1", trajectory)
		readInto(b, &run, pgx.RowToStructByName[relabel.Run], runSelect+" JOIN trajectories tr ON tr.run_id = ru.id WHERE tr.id = $1", trajectory)
		readInto(b, &c.Task, scanTask, taskSelect+" JOIN trajectories tr ON tr.task_id = ta.id WHERE tr.id = $1", trajectory)
		readInto(b, &c.Patch, pgx.RowTo[[]byte], "SELECT patch FROM patches WHERE trajectory_id = $1", trajectory)
		err = tx.SendBatch(ctx, b).Close()
		c.Limits = run.Limits
		return err
	})
	return c, err
}

// RenewRegrading extends the lease. CodeLeaseLost if the fence does not hold (cancelled or
// taken over), here and below.
func (s *Store) RenewRegrading(ctx context.Context, f relabel.RegradeFence, length time.Duration) error {
	return s.changeJob(ctx, ofRegrading(f), "lease_until = clock_timestamp() + $4::interval", "", length)
}

// ReleaseRegrading returns the regrading to the queue.
func (s *Store) ReleaseRegrading(ctx context.Context, f relabel.RegradeFence) error {
	return s.changeJob(ctx, ofRegrading(f), "state = 'queued', owner = NULL, lease_until = NULL", "queued")
}

// FinishRegrading stores the new verdict beside the earlier ones. After an infrastructure error
// the earlier verdict stays current, and the regrading is queued again after pause, or fails
// after relabel.MaxRegradeTries.
func (s *Store) FinishRegrading(ctx context.Context, f relabel.RegradeFence, v relabel.Verdict, pause time.Duration) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		var trajectory relabel.ID
		var tries int
		err := tx.QueryRow(ctx, "SELECT trajectory_id, tries FROM regradings WHERE"+jobFenced+"FOR NO KEY UPDATE", f.RegradingID, f.Claim, f.Owner).Scan(&trajectory, &tries)
		if errors.Is(err, pgx.ErrNoRows) && again {
			return ofRegrading(f).reached(ctx, tx, "done", "queued", "failed")
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return ofRegrading(f).lost()
		}
		if err != nil {
			return err
		}
		var attempt int
		var passed *bool
		if err := tx.QueryRow(ctx, "SELECT attempt, passed FROM trajectories WHERE id = $1 FOR NO KEY UPDATE", trajectory).Scan(&attempt, &passed); err != nil {
			return err
		}
		if err := insertVerdict(ctx, tx, trajectory, attempt, v); err != nil {
			return err
		}
		if v.Infra != "" {
			return putOffRegrading(ctx, tx, f, tries+1, v.Infra, pause)
		}
		return replaceVerdict(ctx, tx, f, trajectory, v, passed == nil || *passed != v.Passed)
	})
}

// putOffRegrading counts an infrastructure error.
func putOffRegrading(ctx context.Context, tx pgx.Tx, f relabel.RegradeFence, tries int, infra string, pause time.Duration) error {
	state, ended := "queued", "NULL"
	if tries >= relabel.MaxRegradeTries {
		state, ended = "failed", "clock_timestamp()"
	}
	_, err := tx.Exec(ctx, fmt.Sprintf(`UPDATE regradings SET state = '%s', tries = $2, failure = $3, due_at = clock_timestamp() + $4::interval,
		owner = NULL, lease_until = NULL, ended_at = %s WHERE id = $1`, state, ended), f.RegradingID, tries, validUTF8(infra), pause)
	return err
}

// replaceVerdict makes v the trajectory's current verdict and ends the regrading. The
// trajectory stays done, its followers get an event, and cached sums of its iteration become
// invalid.
func replaceVerdict(ctx context.Context, tx pgx.Tx, f relabel.RegradeFence, trajectory relabel.ID, v relabel.Verdict, changed bool) error {
	b := &pgx.Batch{}
	b.Queue("UPDATE regradings SET state = 'done', changed = $2, owner = NULL, lease_until = NULL, ended_at = clock_timestamp() WHERE id = $1", f.RegradingID, changed)
	b.Queue("UPDATE trajectories SET passed = $2, verdict_reason = $3, protections = $4 WHERE id = $1", trajectory, v.Passed, validUTF8(string(v.Reason)), v.Protections)
	b.Queue("INSERT INTO events (subject, run_id, iteration_id, trajectory_id, state) SELECT 'trajectory', run_id, iteration_id, id, state FROM trajectories WHERE id = $1", trajectory)
	// Last, because the iteration's row is contended.
	b.Queue("UPDATE iterations SET regraded_at = clock_timestamp() WHERE id = (SELECT iteration_id FROM trajectories WHERE id = $1)", trajectory)
	return tx.SendBatch(ctx, b).Close()
}
