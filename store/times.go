package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// critical is the critical path of a trajectory with the turns of attempt $2, in milliseconds:
// models and commands, without relabel's own work. It is the longer of two chains. One is the
// rollout: of each turn the answered request and the commands. The other ends with the last
// label, if each is requested as soon as its state exists; it does not count for labels outside
// the rollouts.
const critical = `SELECT coalesce(greatest(sum(c.link), max(c.ready + c.label)), 0)::bigint
	FROM (SELECT b.link, b.label, sum(b.link) OVER (ORDER BY b.t) - b.link AS ready
		FROM (SELECT tu.t, coalesce(l.millis, 0) AS label, x.millis + least(tu.sandbox_ms,
				(SELECT coalesce(sum(o.millis), 0) FROM observations o WHERE (o.trajectory_id, o.attempt, o.t) = (tu.trajectory_id, tu.attempt, tu.t))) AS link
			FROM turns tu
			JOIN actions x ON (x.trajectory_id, x.attempt, x.t, x.policy_id, x.sample)
				= (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
			LEFT JOIN actions l ON tu.executor = 'student' AND (l.trajectory_id, l.attempt, l.t, l.policy_id, l.sample)
				= (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
				AND EXISTS (SELECT 1 FROM trajectories tr JOIN runs ru ON ru.id = tr.run_id WHERE tr.id = $1 AND ru.labels = 'inline')
			WHERE tu.trajectory_id = $1 AND tu.attempt = $2) b) c`

// RecordTime replaces the attempt's time report and its trajectory's critical path so far. It
// is not a write of the trajectory: it needs no lease, and changes nothing after the attempt's
// end.
func (s *Store) RecordTime(ctx context.Context, f relabel.Fence, spent relabel.TimeSpent) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		ideal, err := readValue[int64](ctx, tx, critical, f.TrajectoryID, f.Attempt)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO attempt_times (trajectory_id, number, start_ms, slot_ms, replay_ms, endpoint_ms, model_ms,
				sandbox_ms, database_ms, end_ms, labels_ms, verify_ms, engine_ms, ideal_ms)
			SELECT trajectory_id, number, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15 FROM attempts
			WHERE trajectory_id = $1 AND number = $2 AND worker = $3 AND outcome IS NULL
			ON CONFLICT (trajectory_id, number) DO UPDATE SET start_ms = excluded.start_ms, slot_ms = excluded.slot_ms,
				replay_ms = excluded.replay_ms, endpoint_ms = excluded.endpoint_ms, model_ms = excluded.model_ms,
				sandbox_ms = excluded.sandbox_ms, database_ms = excluded.database_ms, end_ms = excluded.end_ms,
				labels_ms = excluded.labels_ms, verify_ms = excluded.verify_ms, engine_ms = excluded.engine_ms, ideal_ms = excluded.ideal_ms`,
			f.TrajectoryID, f.Attempt, f.Owner, spent.Start, spent.Slot, spent.Replay, spent.Endpoint, spent.Model,
			spent.Sandbox, spent.Database, spent.End, spent.Labels, spent.Verify, spent.Engine, ideal)
		return err
	})
}

// timeSums sum the times of ended attempts. The time on the critical path excludes prefetching,
// waits for a slot, the verification, and labels outside the rollouts. A done trajectory has
// exactly one attempt that completed it.
const timeSums = `count(ti.number),
	coalesce(sum(ti.start_ms), 0)::bigint, coalesce(sum(ti.slot_ms), 0)::bigint, coalesce(sum(ti.replay_ms), 0)::bigint,
	coalesce(sum(ti.endpoint_ms), 0)::bigint, coalesce(sum(ti.model_ms), 0)::bigint, coalesce(sum(ti.sandbox_ms), 0)::bigint,
	coalesce(sum(ti.database_ms), 0)::bigint, coalesce(sum(ti.end_ms), 0)::bigint, coalesce(sum(ti.labels_ms), 0)::bigint,
	coalesce(sum(ti.verify_ms), 0)::bigint, coalesce(sum(ti.engine_ms), 0)::bigint,
	coalesce(sum(` + lost + `), 0)::bigint,
	coalesce(sum(ti.ideal_ms) FILTER (WHERE a.outcome = 'done'), 0)::bigint,
	coalesce(sum(coalesce(ti.replay_ms + ti.endpoint_ms + ti.model_ms + ti.sandbox_ms + ti.database_ms + ti.end_ms + CASE ru.labels WHEN 'inline' THEN ti.labels_ms ELSE 0 END + ti.engine_ms,
		` + lost + `)) FILTER (WHERE tr.state = 'done'), 0)::bigint`

// lost is the length of an attempt whose worker died without a report.
const lost = `CASE WHEN ti.number IS NULL AND a.outcome IN ('lost', 'diverged') THEN extract(epoch FROM a.ended_at - a.started_at) * 1000 END`

const timeRows = ` FROM trajectories tr JOIN runs ru ON ru.id = tr.run_id
	JOIN attempts a ON a.trajectory_id = tr.id AND a.outcome IS NOT NULL
	LEFT JOIN attempt_times ti ON (ti.trajectory_id, ti.number) = (a.trajectory_id, a.number) `

// FindTime returns a trajectory's time report. CodeNotFound if there is none.
func (s *Store) FindTime(ctx context.Context, trajectory relabel.ID) (relabel.TimeReport, error) {
	if _, err := s.FindTrajectory(ctx, trajectory); err != nil {
		return relabel.TimeReport{}, err
	}
	var r relabel.TimeReport
	err := s.pool.QueryRow(ctx, "SELECT "+timeSums+timeRows+"WHERE tr.id = $1", trajectory).Scan(timeFields(&r)...)
	r.Efficiency = relabel.Efficiency(r.Ideal, r.Actual)
	return r, classify(err)
}

// ListTimes returns the time reports of a run's iterations in the order of creation.
// CodeNotFound if there is no such run.
func (s *Store) ListTimes(ctx context.Context, run relabel.ID) ([]relabel.IterationTime, error) {
	if _, err := s.FindRun(ctx, run); err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, "SELECT it.id, it.number, it.kind, ts.* FROM iterations it LEFT JOIN LATERAL (SELECT "+timeSums+timeRows+
		"WHERE tr.iteration_id = it.id) ts ON true WHERE it.run_id = $1 ORDER BY it.created_at, it.id", run)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (it relabel.IterationTime, err error) {
		err = row.Scan(append([]any{&it.IterationID, &it.Number, &it.Kind}, timeFields(&it.TimeReport)...)...)
		it.Efficiency = relabel.Efficiency(it.Ideal, it.Actual)
		return it, err
	})
	return list, classify(err)
}

// FindIterationTime returns the time report of one iteration, zero if there is none.
func (s *Store) FindIterationTime(ctx context.Context, iteration relabel.ID) (r relabel.TimeReport, err error) {
	err = s.pool.QueryRow(ctx, "SELECT "+timeSums+timeRows+"WHERE tr.iteration_id = $1", iteration).Scan(timeFields(&r)...)
	r.Efficiency = relabel.Efficiency(r.Ideal, r.Actual)
	return r, classify(err)
}

func timeFields(r *relabel.TimeReport) []any {
	s := &r.Spent
	return []any{&r.Attempts, &s.Start, &s.Slot, &s.Replay, &s.Endpoint, &s.Model, &s.Sandbox, &s.Database, &s.End,
		&s.Labels, &s.Verify, &s.Engine, &r.Lost, &r.Ideal, &r.Actual}
}
