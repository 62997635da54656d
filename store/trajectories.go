package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const trajectorySelect = `SELECT tr.id, tr.run_id, tr.iteration_id, tr.task_id, ta.instance_id, it.number AS iteration, tr.kind, tr.generation,
	tr.state, tr.attempt, tr.trail, tr.environment_failures, tr.executors, tr.kappa, tr.turns, coalesce(tr.end_reason, '') AS end_reason,
	coalesce(tr.failure, '') AS failure, coalesce(tr.failure_detail, '') AS failure_detail, tr.submitted, tr.resolved, tr.verdict,
	tr.labels_had, tr.labels_owed, tr.labels_missing, tr.tokens, tr.ribbon, nullif(position('d' IN tr.ribbon), 0) AS first_differs, tr.agreed::float8 / nullif(tr.compared, 0) AS agreement, tr.created_at, tr.started_at, tr.ended_at
	FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id JOIN iterations it ON it.id = tr.iteration_id`

// FindTrajectory returns a trajectory; CodeNotFound where there is none.
func (s *Store) FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error) {
	rows, _ := s.pool.Query(ctx, trajectorySelect+" WHERE tr.id = $1", id)
	t, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[relabel.Trajectory])
	return t, missing("trajectory", id, err)
}

// ListTrajectories lists what the filter lets through, newest first. CodeInvalid for a
// page that is none.
func (s *Store) ListTrajectories(ctx context.Context, f relabel.TrajectoryFilter, p relabel.Page) ([]relabel.Trajectory, string, error) {
	l := trajectoryList(f)
	return l.page(ctx, s, p)
}

func trajectoryList(f relabel.TrajectoryFilter) *list[relabel.Trajectory] {
	l := &list[relabel.Trajectory]{query: trajectorySelect, key: "tr", scan: pgx.RowToStructByName[relabel.Trajectory],
		keyOf: func(t relabel.Trajectory) cursor { return cursor{t.CreatedAt, t.ID} }}
	if f.RunID != nil {
		l.where("tr.run_id = %s", *f.RunID)
	}
	if f.IterationID != nil {
		l.where("tr.iteration_id = %s", *f.IterationID)
	}
	if f.TaskID != nil {
		l.where("tr.task_id = %s", *f.TaskID)
	}
	if f.InstanceID != "" {
		l.where("tr.task_id IN (SELECT id FROM tasks WHERE instance_id = %s)", legible(f.InstanceID))
	}
	if f.State != "" {
		l.where("tr.state = %s", f.State)
	}
	if f.EndReason != "" {
		l.where("tr.end_reason = %s", f.EndReason)
	}
	if f.Failure != "" {
		l.where("tr.failure = %s", f.Failure)
	}
	if f.Verdict != "" {
		l.where("tr.verdict = %s", f.Verdict)
	}
	// IS NOT NULL says what follows from the equality, in the words of the partial index:
	// the planner does not see it by itself for false.
	if f.Submitted != nil {
		l.where("tr.submitted IS NOT NULL AND tr.submitted = %s", *f.Submitted)
	}
	if f.Flag != "" {
		condition, flag := flagIs(f.Flag)
		l.where("tr.id IN (SELECT rv.trajectory_id FROM reviews rv WHERE "+condition+")", flag)
	}
	return l
}

// ListAttempts lists a trajectory's attempts, the first first.
func (s *Store) ListAttempts(ctx context.Context, trajectory relabel.ID) ([]relabel.Attempt, error) {
	rows, _ := s.pool.Query(ctx, `SELECT number, worker, docker_host, container, started_at, ended_at,
		coalesce(outcome, '') AS outcome, coalesce(reason, '') AS reason, continued_by FROM attempts WHERE trajectory_id = $1 ORDER BY number`, trajectory)
	attempts, err := pgx.CollectRows(rows, pgx.RowToStructByName[relabel.Attempt])
	if err == nil && len(attempts) == 0 {
		_, err = s.FindTrajectory(ctx, trajectory)
	}
	return attempts, classify(err)
}

// FindPatch returns the submission, empty where the rollout left none; CodeNotFound
// before the rollout has ended.
func (s *Store) FindPatch(ctx context.Context, trajectory relabel.ID) ([]byte, error) {
	var patch []byte
	err := s.pool.QueryRow(ctx, "SELECT p.patch FROM trajectories tr LEFT JOIN patches p ON p.trajectory_id = tr.id WHERE tr.id = $1", trajectory).Scan(&patch)
	if err == nil && patch == nil {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the trajectory has no patch: its rollout has not ended")
	}
	return patch, missing("trajectory", trajectory, err)
}

// FindVerdict returns the verdict on the current attempt; CodeNotFound where there is
// none.
func (s *Store) FindVerdict(ctx context.Context, trajectory relabel.ID) (relabel.Verdict, error) {
	rows, _ := s.pool.Query(ctx, `SELECT v.resolved, v.reason, v.tests, v.output, v.infra, v.millis, v.at
		FROM verdicts v JOIN trajectories tr ON tr.id = v.trajectory_id AND tr.attempt = v.attempt WHERE tr.id = $1`, trajectory)
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[relabel.Verdict])
	return v, missing("verdict on trajectory", trajectory, err)
}
