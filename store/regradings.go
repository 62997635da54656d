package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"relabel"
)

// QueueRegrade is the queue of regradings.
const QueueRegrade = "regrade"

// regradable are the trajectories tr that a RegradeSelection takes: $1 run, $2 iteration or
// null, $3 trajectory or null, $4 all, $5 present protections, $6 number of iterations or 0.
const regradable = ` FROM trajectories tr WHERE tr.run_id = $1 AND tr.state = 'done' AND ($2::uuid IS NULL OR tr.iteration_id = $2)
	AND ($6 = 0 OR tr.iteration_id IN (SELECT it.id FROM iterations it WHERE it.run_id = $1 AND it.number = $6))
	AND ($3::uuid IS NULL OR tr.id = $3) AND ($4 OR tr.protections IS NULL OR tr.protections < $5) `

// latestRegradings are the latest regrading re of each trajectory that is regradable.
const latestRegradings = ` FROM (SELECT DISTINCT ON (re.trajectory_id) re.* FROM regradings re
	WHERE re.trajectory_id IN (SELECT tr.id` + regradable + `) ORDER BY re.trajectory_id, re.created_at DESC, re.id DESC) re `

func regradeArgs(sel relabel.RegradeSelection) []any {
	return []any{sel.RunID, sel.IterationID, sel.TrajectoryID, sel.All, relabel.ProtectionsVersion, sel.Iteration}
}

// Regrade queues a regrading of each selected trajectory that has none queued or running,
// and returns how the selection stands. CodeConflict if no selected trajectory is done
// or the run is being deleted.
func (s *Store) Regrade(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, itself, sel.RunID); err != nil {
			return err
		}
		rows, _ := tx.Query(ctx, "SELECT tr.id"+regradable+"ORDER BY tr.id", regradeArgs(sel)...)
		trajectories, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
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
		return s.wakeRegraders(ctx, tx, int(tag.RowsAffected()))
	})
	if err != nil {
		return relabel.RegradeProgress{}, err
	}
	return s.RegradeProgress(ctx, sel)
}

// RegradeProgress is RegradeCounts with OutdatedMillis, which reads a verdict of each
// trajectory that is outdated.
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

// RegradeCounts sums up a selection's verdicts and regradings; OutdatedMillis is 0. sel.All
// does not matter. CodeConflict if no selected trajectory is done, CodeNotFound if
// there is no run.
func (s *Store) RegradeCounts(ctx context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	p := relabel.RegradeProgress{Protections: relabel.ProtectionsVersion, Verdicts: []relabel.ProtectionsCount{}, Regradings: map[relabel.RegradeState]int{}, Failures: []relabel.RegradeFailure{}}
	if _, err := s.FindRun(ctx, sel.RunID); err != nil {
		return p, err
	}
	sel.All = true
	args := regradeArgs(sel)
	b := &pgx.Batch{}
	var done int
	b.Queue(`SELECT count(*), count(*) FILTER (WHERE tr.protections IS NULL OR tr.protections < $5)`+regradable, args...).
		QueryRow(func(row pgx.Row) error { return row.Scan(&done, &p.Outdated) })
	b.Queue("SELECT tr.protections, count(*), count(*) FILTER (WHERE tr.passed)"+regradable+"AND tr.protections IS NOT NULL GROUP BY 1 ORDER BY 1", args...).Query(func(rows pgx.Rows) (err error) {
		p.Verdicts, err = pgx.AppendRows(p.Verdicts, rows, pgx.RowToStructByPos[relabel.ProtectionsCount])
		return err
	})
	var state relabel.RegradeState
	var n, errors, changed int
	b.Queue("SELECT re.state, count(*), sum(re.tries), count(*) FILTER (WHERE re.changed)"+latestRegradings+"GROUP BY re.state", args...).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{&state, &n, &errors, &changed}, func() error {
			p.Regradings[state] = n
			p.Errors += errors
			p.Changed += changed
			return nil
		})
		return err
	})
	b.Queue("SELECT tr.id, ta.instance_id, coalesce(re.failure, '')"+latestRegradings+`JOIN trajectories tr ON tr.id = re.trajectory_id JOIN tasks ta ON ta.id = tr.task_id
		WHERE re.state = 'failed' ORDER BY ta.instance_id, tr.id LIMIT $7`, append(args, relabel.MostRegradeFailures)...).Query(func(rows pgx.Rows) (err error) {
		p.Failures, err = pgx.AppendRows(p.Failures, rows, pgx.RowToStructByPos[relabel.RegradeFailure])
		return err
	})
	if err := classify(s.pool.SendBatch(ctx, b).Close()); err != nil {
		return p, err
	}
	if done == 0 {
		return p, relabel.Errorf(relabel.CodeConflict, "no selected trajectory is done: only a stored submission is graded again")
	}
	return p, nil
}

// CancelRegradings cancels a selection's regradings that are queued or running and counts
// them. sel.All does not matter.
func (s *Store) CancelRegradings(ctx context.Context, sel relabel.RegradeSelection) (cancelled int, err error) {
	sel.All = true
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, `UPDATE regradings SET state = 'cancelled', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
			WHERE state IN ('queued', 'running') AND trajectory_id IN (SELECT tr.id`+regradable+")", regradeArgs(sel)...)
		cancelled = max(cancelled, int(tag.RowsAffected())) // a repeat after an unclear commit finds none left
		return err
	})
	return cancelled, err
}

const regradingSelect = `SELECT re.id, re.trajectory_id, ta.instance_id, re.state, re.tries, coalesce(re.failure, '') AS failure, re.changed, re.created_at, re.started_at, re.ended_at
	FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN tasks ta ON ta.id = tr.task_id`

// ListRegradings lists a trajectory's regradings, the newest first, 100 at most.
func (s *Store) ListRegradings(ctx context.Context, trajectory relabel.ID) ([]relabel.Regrading, error) {
	rows, _ := s.pool.Query(ctx, regradingSelect+" WHERE re.trajectory_id = $1 ORDER BY re.created_at DESC, re.id DESC LIMIT 100", trajectory)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[relabel.Regrading])
	return all, classify(err)
}

// wakeRegraders inserts n wake-ups.
func (s *Store) wakeRegraders(ctx context.Context, tx pgx.Tx, n int) error {
	if n = min(n, mostWakeups); n <= 0 {
		return nil
	}
	params := make([]river.InsertManyParams, n)
	for i := range params {
		params[i] = river.InsertManyParams{Args: relabel.RegradeJob{}, InsertOpts: &river.InsertOpts{Queue: QueueRegrade}}
	}
	_, err := s.jobs.InsertManyFastTx(ctx, tx, params)
	return err
}

// WakeRegraders makes as many wake-ups wait as there are regradings due, and fails those
// whose workers were lost too often. Any number of processes may call it.
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
		return s.wakeRegraders(ctx, tx, lacking)
	})
}
