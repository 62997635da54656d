package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// QueueRegrade is the queue of regradings.
const QueueRegrade = "regrade"

// regradable are the trajectories tr of a RegradeSelection: $1 run, $2 iteration or null, $3
// trajectory or null, $4 all, $5 current protections, $6 iteration number or 0. A rollout that the label
// rule ended submitted nothing on purpose, a score follows from the gold alone, and imported trajectories have no
// image.
const regradable = ` FROM trajectories tr WHERE tr.run_id = $1 AND tr.state = 'done' AND tr.verdict <> 'cut'
	AND (SELECT ru.task_kind = 'repair' AND ru.scaffold <> '` + relabel.ScaffoldImported + `' FROM runs ru WHERE ru.id = $1) AND ($2::uuid IS NULL OR tr.iteration_id = $2)
	AND ($6 = 0 OR tr.iteration_id IN (SELECT it.id FROM iterations it WHERE it.run_id = $1 AND it.number = $6))
	AND ($3::uuid IS NULL OR tr.id = $3) AND ($4 OR tr.protections IS NULL OR tr.protections < $5) `

// latestRegradings are the latest regradings re of regradable trajectories.
const latestRegradings = ` FROM (SELECT DISTINCT ON (re.trajectory_id) re.* FROM regradings re
	WHERE re.trajectory_id IN (SELECT tr.id` + regradable + `) ORDER BY re.trajectory_id, re.created_at DESC, re.id DESC) re `

func regradeArgs(sel relabel.RegradeSelection) []any {
	return []any{sel.RunID, sel.IterationID, sel.TrajectoryID, sel.All, relabel.ProtectionsVersion, sel.Iteration}
}

// Regrade queues a regrading of each selected trajectory that has none queued or running, and
// returns the progress of the selection. CodeConflict if no selected trajectory is done or the
// run is being deleted.
func (s *Store) Regrade(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, sel.RunID); err != nil {
			return err
		}
		trajectories, err := readColumn[relabel.ID](ctx, tx,
			"SELECT tr.id"+regradable+"ORDER BY tr.id", regradeArgs(sel)...)
		if err != nil {
			return err
		}
		ids := make([]relabel.ID, len(trajectories))
		for i := range ids {
			ids[i] = relabel.NewID()
		}
		tag, err := tx.Exec(ctx, `INSERT INTO regradings (id, trajectory_id) SELECT * FROM unnest($1::uuid[], $2::uuid[])
			ON CONFLICT (trajectory_id) WHERE state IN ('queued', 'running') DO NOTHING`, ids, trajectories)
		if err != nil {
			return err
		}
		return s.insertWakeups(ctx, tx, QueueRegrade, relabel.RegradeJob{}, min(int(tag.RowsAffected()), mostWakeups))
	})
	if err != nil {
		return relabel.RegradeProgress{}, err
	}
	return s.RegradeProgress(ctx, sel)
}

// RegradeProgress is RegradeCounts with OutdatedMillis, for which it reads one verdict per
// outdated trajectory.
func (s *Store) RegradeProgress(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	p, err := s.RegradeCounts(ctx, sel)
	if err != nil || p.Outdated == 0 {
		return p, err
	}
	sel.All = false
	err = s.pool.QueryRow(ctx, `SELECT coalesce(sum((SELECT v.millis FROM verdicts v WHERE v.trajectory_id = tr.id
		ORDER BY v.infra = '' DESC, v.number DESC LIMIT 1)), 0)::bigint`+regradable, regradeArgs(sel)...).Scan(&p.OutdatedMillis)
	return p, classify(err)
}

// RegradeCounts sums up a selection's verdicts and regradings; OutdatedMillis is 0. It ignores
// sel.All. CodeConflict if no selected trajectory is done, CodeNotFound if there is no such
// run.
func (s *Store) RegradeCounts(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	p := relabel.RegradeProgress{Protections: relabel.ProtectionsVersion, Verdicts: []relabel.ProtectionsCount{}, Regradings: map[relabel.RegradeState]int{}, Failures: []relabel.RegradeFailure{}}
	run, err := s.FindRun(ctx, sel.RunID)
	if err != nil {
		return p, err
	}
	if err := run.CheckRegrade(); err != nil {
		return p, err
	}
	sel.All = true
	args := regradeArgs(sel)
	b := &pgx.Batch{}
	var done int
	b.Queue(`SELECT count(*), count(*) FILTER (WHERE tr.protections IS NULL OR tr.protections < $5)`+regradable, args...).
		QueryRow(func(row pgx.Row) error { return row.Scan(&done, &p.Outdated) })
	queueRead(b, &p.Verdicts, pgx.RowToStructByPos[relabel.ProtectionsCount], "SELECT tr.protections, count(*), count(*) FILTER (WHERE tr.passed)"+
		regradable+"AND tr.protections IS NOT NULL GROUP BY 1 ORDER BY 1", args...)
	var state relabel.RegradeState
	var n, errors, changed int
	queueEach(b, []any{&state, &n, &errors, &changed}, func() {
		p.Regradings[state] = n
		p.Errors += errors
		p.Changed += changed
	}, "SELECT re.state, count(*), sum(re.tries), count(*) FILTER (WHERE re.changed)"+latestRegradings+"GROUP BY re.state", args...)
	queueRead(b, &p.Failures, pgx.RowToStructByPos[relabel.RegradeFailure], "SELECT tr.id, ta.instance_id, coalesce(re.failure, '')"+latestRegradings+
		`JOIN trajectories tr ON tr.id = re.trajectory_id JOIN tasks ta ON ta.id = tr.task_id
		WHERE re.state = 'failed' ORDER BY ta.instance_id, tr.id LIMIT $7`, append(args, relabel.MostRegradeFailures)...)
	if err := classify(s.pool.SendBatch(ctx, b).Close()); err != nil {
		return p, err
	}
	if done == 0 {
		return p, relabel.Errorf(relabel.CodeConflict, "no selected trajectory is done: only a stored submission is graded again")
	}
	return p, nil
}

// CancelRegradings cancels the queued and running regradings of a selection and counts them. It
// ignores sel.All.
func (s *Store) CancelRegradings(ctx context.Context, sel relabel.RegradeSelection) (cancelled int, err error) {
	sel.All = true
	return s.execCount(ctx, `UPDATE regradings SET state = 'cancelled', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
		WHERE state IN ('queued', 'running') AND trajectory_id IN (SELECT tr.id`+regradable+")", regradeArgs(sel)...)
}

const regradingSelect = `SELECT re.id, re.trajectory_id, ta.instance_id, re.state, re.tries, coalesce(re.failure, '') AS failure, re.changed, re.created_at, re.started_at, re.ended_at
	FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN tasks ta ON ta.id = tr.task_id`

// ListRegradings lists at most 100 regradings of a trajectory, newest first.
func (s *Store) ListRegradings(ctx context.Context, trajectory relabel.ID) ([]relabel.Regrading, error) {
	return listAll[relabel.Regrading](ctx, s,
		regradingSelect+" WHERE re.trajectory_id = $1 ORDER BY re.created_at DESC, re.id DESC LIMIT 100", trajectory)
}

// WakeRegraders adds wake-ups up to the number of due regradings, and fails regradings that
// lost their workers too often. Any number of processes may call it.
func (s *Store) WakeRegraders(ctx context.Context) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' regraders', 0))"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE regradings SET state = 'failed', tries = tries + 1, failure = 'the worker that graded it was lost',
			owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
			WHERE state = 'running' AND lease_until <= clock_timestamp() AND tries + 1 >= $1`, relabel.MaxRegradeTries)
		if err != nil {
			return err
		}
		var lacking int
		err = tx.QueryRow(ctx, "SELECT (SELECT count(*)"+regradingsDue+`) - (SELECT count(*) FROM river_job
			WHERE kind = $1 AND state IN ('available', 'pending', 'retryable', 'scheduled'))`, relabel.RegradeJob{}.Kind()).Scan(&lacking)
		if err != nil {
			return err
		}
		return s.insertWakeups(ctx, tx, QueueRegrade, relabel.RegradeJob{}, min(lacking, mostWakeups))
	})
}

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
		if err != nil {
			return noneDue(err, "nothing to grade again now")
		}
		var run relabel.Run
		var it relabel.Iteration
		b := &pgx.Batch{}
		readInto(b, &c.Trajectory, pgx.RowToStructByName[relabel.Trajectory], trajectorySelect+" WHERE tr.id = $1", trajectory)
		readInto(b, &run, pgx.RowToStructByName[relabel.Run], runSelect+" JOIN trajectories tr ON tr.run_id = ru.id WHERE tr.id = $1", trajectory)
		readInto(b, &it, pgx.RowToStructByName[relabel.Iteration], iterationSelect+" JOIN trajectories tr ON tr.iteration_id = it.id WHERE tr.id = $1", trajectory)
		readInto(b, &c.Task, scanTask, taskSelect+" JOIN trajectories tr ON tr.task_id = ta.id WHERE tr.id = $1", trajectory)
		readInto(b, &c.Patch, pgx.RowTo[[]byte], "SELECT patch FROM patches WHERE trajectory_id = $1", trajectory)
		err = tx.SendBatch(ctx, b).Close()
		c.Limits = it.LimitsIn(run)
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
	b.Queue("UPDATE trajectories SET passed = $2, verdict_reason = $3, protections = $4, failure_mode = NULL, failure_rules = 0 WHERE id = $1", trajectory, v.Passed, validUTF8(string(v.Reason)), v.Protections)
	b.Queue("INSERT INTO events (subject, run_id, iteration_id, trajectory_id, state) SELECT 'trajectory', run_id, iteration_id, id, state FROM trajectories WHERE id = $1", trajectory)
	// Last, because the iteration's row is contended.
	b.Queue("UPDATE iterations SET regraded_at = clock_timestamp() WHERE id = (SELECT iteration_id FROM trajectories WHERE id = $1)", trajectory)
	return tx.SendBatch(ctx, b).Close()
}
