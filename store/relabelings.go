package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// relabelSample is the sample of what relabelings ask for: neither an executed action
// (0) nor the first label beside one (0 or 1), whoever is asked.
const relabelSample = 2

const relabelSelect = `SELECT re.id, tr.run_id, tr.iteration_id, re.trajectory_id, ta.instance_id, re.policy_id, re.state, coalesce(re.failure, '') AS failure,
	re.priority, re.turns, re.received, re.missing, re.pending, re.compared, re.agreed, re.created_at, re.started_at, re.ended_at
	FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN tasks ta ON ta.id = tr.task_id`

// RelabelTrajectory has a policy asked at every state of a trajectory that is done. Asked
// for again it is the same relabeling; what is missing is then asked for once more.
// CodeConflict if the trajectory is not done or has no turn, or its run is being
// deleted.
func (s *Store) RelabelTrajectory(ctx context.Context, trajectory, policy relabel.ID, priority int) (relabel.Relabeling, error) {
	t, err := s.FindTrajectory(ctx, trajectory)
	switch {
	case err != nil:
		return relabel.Relabeling{}, err
	case t.State != relabel.Done:
		return relabel.Relabeling{}, relabel.Errorf(relabel.CodeConflict, "the trajectory is %s: only one that is done is relabelled", t.State)
	case t.Turns == 0:
		return relabel.Relabeling{}, relabel.Errorf(relabel.CodeConflict, "the trajectory has no turn")
	}
	if err := s.relabel(ctx, []relabel.ID{trajectory}, policy, priority); err != nil {
		return relabel.Relabeling{}, err
	}
	rows, _ := s.pool.Query(ctx, relabelSelect+" WHERE re.trajectory_id = $1 AND re.policy_id = $2", trajectory, policy)
	re, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[relabel.Relabeling])
	return re, classify(err)
}

// RelabelIteration does what RelabelTrajectory does for each trajectory of the iteration
// that is done. CodeConflict if none is, or the run is being deleted.
func (s *Store) RelabelIteration(ctx context.Context, iteration, policy relabel.ID, priority int) (relabel.RelabelProgress, error) {
	if _, _, err := s.FindIteration(ctx, iteration); err != nil {
		return relabel.RelabelProgress{}, err
	}
	rows, _ := s.pool.Query(ctx, "SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'done' AND turns > 0 ORDER BY id", iteration)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
	switch {
	case err != nil:
		return relabel.RelabelProgress{}, classify(err)
	case len(ids) == 0:
		return relabel.RelabelProgress{}, relabel.Errorf(relabel.CodeConflict, "no trajectory of the iteration is done")
	}
	if err := s.relabel(ctx, ids, policy, priority); err != nil {
		return relabel.RelabelProgress{}, err
	}
	all, err := s.RelabelProgress(ctx, iteration)
	for _, p := range all {
		if p.PolicyID == policy {
			return p, nil
		}
	}
	return relabel.RelabelProgress{}, err
}

// relabel queues the relabelings of trajectories of one run that are done.
func (s *Store) relabel(ctx context.Context, trajectories []relabel.ID, policy relabel.ID, priority int) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, ofTrajectory, trajectories[0]); err != nil {
			return err
		}
		again, err := askAgain(ctx, tx, trajectories, policy, priority)
		if err != nil {
			return err
		}
		ids := make([]relabel.ID, len(trajectories))
		for i := range ids {
			ids[i] = relabel.NewID()
		}
		tag, err := tx.Exec(ctx, `INSERT INTO relabelings (id, trajectory_id, attempt, policy_id, priority, turns, pending)
			SELECT n.id, tr.id, tr.attempt, $3, $4, tr.turns, tr.turns FROM unnest($1::uuid[], $2::uuid[]) AS n(id, trajectory)
			JOIN trajectories tr ON tr.id = n.trajectory AND tr.state = 'done' ON CONFLICT (trajectory_id, policy_id) DO NOTHING`, ids, trajectories, policy, priority)
		if err != nil {
			return err
		}
		return s.wakeLabellers(ctx, tx, relabel.RelabelJob{}, again+int(tag.RowsAffected()))
	})
}

// askAgain queues relabelings again that are over and lack an answer, without the
// answers that are missing, and counts them.
func askAgain(ctx context.Context, tx pgx.Tx, trajectories []relabel.ID, policy relabel.ID, priority int) (int, error) {
	rows, _ := tx.Query(ctx, `UPDATE relabelings SET state = 'queued', priority = $3, pending = pending + missing, missing = 0, failure = NULL, ended_at = NULL
		WHERE trajectory_id = ANY ($1) AND policy_id = $2 AND state IN ('done', 'failed', 'cancelled') AND missing + pending > 0 RETURNING trajectory_id`,
		trajectories, policy, priority)
	again, err := pgx.CollectRows(rows, pgx.RowTo[relabel.ID])
	if err != nil || len(again) == 0 {
		return 0, err
	}
	_, err = tx.Exec(ctx, `DELETE FROM actions a USING relabelings re WHERE re.trajectory_id = ANY ($1) AND re.policy_id = $2
		AND (a.trajectory_id, a.attempt, a.policy_id, a.sample) = (re.trajectory_id, re.attempt, re.policy_id, $3) AND a.status = 'missing'`,
		again, policy, relabelSample)
	return len(again), err
}

// FindRelabeling returns a relabeling; CodeNotFound if there is none.
func (s *Store) FindRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error) {
	rows, _ := s.pool.Query(ctx, relabelSelect+" WHERE re.id = $1", id)
	re, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[relabel.Relabeling])
	return re, notFound("relabeling", id, err)
}

// ListRelabelings lists what the filter lets through, newest first. CodeInvalid for a
// page that is none.
func (s *Store) ListRelabelings(ctx context.Context, f relabel.RelabelFilter, p relabel.Page) ([]relabel.Relabeling, string, error) {
	l := list[relabel.Relabeling]{query: relabelSelect, key: "re", scan: pgx.RowToStructByName[relabel.Relabeling],
		keyOf: func(r relabel.Relabeling) cursor { return cursor{r.CreatedAt, r.ID} }}
	if f.RunID != nil {
		l.where("tr.run_id = %s", *f.RunID)
	}
	if f.IterationID != nil {
		l.where("tr.iteration_id = %s", *f.IterationID)
	}
	if f.TrajectoryID != nil {
		l.where("re.trajectory_id = %s", *f.TrajectoryID)
	}
	if f.PolicyID != nil {
		l.where("re.policy_id = %s", *f.PolicyID)
	}
	if f.State != "" {
		l.where("re.state = %s", f.State)
	}
	return l.page(ctx, s, p)
}

// RelabelProgress sums an iteration's relabelings up, by policy.
func (s *Store) RelabelProgress(ctx context.Context, iteration relabel.ID) ([]relabel.RelabelProgress, error) {
	rows, _ := s.pool.Query(ctx, `SELECT re.policy_id, re.state, count(*), sum(re.turns), sum(re.received), sum(re.missing), sum(re.pending), sum(re.compared), sum(re.agreed)
		FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id WHERE tr.iteration_id = $1
		GROUP BY re.policy_id, re.state ORDER BY re.policy_id`, iteration)
	var all []relabel.RelabelProgress
	var part relabel.RelabelProgress
	var state relabel.RelabelState
	var n int
	_, err := pgx.ForEachRow(rows, []any{&part.PolicyID, &state, &n, &part.Turns, &part.Received, &part.Missing, &part.Pending, &part.Compared, &part.Agreed}, func() error {
		if len(all) == 0 || all[len(all)-1].PolicyID != part.PolicyID {
			all = append(all, relabel.RelabelProgress{PolicyID: part.PolicyID, Relabelings: map[relabel.RelabelState]int{}})
		}
		part.Relabelings = map[relabel.RelabelState]int{state: n}
		all[len(all)-1].Add(part)
		return nil
	})
	return all, classify(err)
}

const cancelRelabelings = `UPDATE relabelings re SET state = 'cancelled', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
	WHERE re.state IN ('queued', 'running') AND `

// CancelRelabeling cancels a relabeling that is not over; its worker finds its lease
// lost. What was answered stays. Cancelling twice is once; one that is over otherwise is
// a CodeConflict.
func (s *Store) CancelRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error) {
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, cancelRelabelings+"re.id = $1", id)
		return err
	})
	if err != nil {
		return relabel.Relabeling{}, err
	}
	re, err := s.FindRelabeling(ctx, id)
	if err == nil && re.State != relabel.RelabelCancelled {
		return re, relabel.Errorf(relabel.CodeConflict, "the relabeling is %s", re.State)
	}
	return re, err
}

// CancelRelabelings cancels an iteration's relabelings that are not over, of one policy
// or (nil) of all, and counts them.
func (s *Store) CancelRelabelings(ctx context.Context, iteration relabel.ID, policy *relabel.ID) (cancelled int, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, cancelRelabelings+`re.trajectory_id IN (SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = $1)
			AND ($2::uuid IS NULL OR re.policy_id = $2)`, iteration, policy)
		cancelled = max(cancelled, int(tag.RowsAffected())) // none are left after a commit that was unclear
		return err
	})
	return cancelled, err
}
