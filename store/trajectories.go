package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const trajectorySelect = `SELECT tr.id, tr.run_id, tr.iteration_id, tr.task_id, ta.instance_id, it.number AS iteration, tr.kind, tr.generation,
	tr.state, tr.attempt, tr.trail, tr.environment_failures, tr.executors, tr.kappa, tr.skip_verify, tr.turns, coalesce(tr.end_reason, '') AS end_reason,
	coalesce(tr.failure, '') AS failure, coalesce(tr.failure_detail, '') AS failure_detail, tr.submitted, tr.passed, tr.resolved, tr.protections, tr.score, tr.hits, tr.verdict, coalesce(tr.verdict_reason, '') AS verdict_reason,
	coalesce(tr.failure_mode, '') AS failure_mode, tr.tool_use_error,
	tr.labels_received, tr.labels_pending, tr.labels_missing, tr.labels_not_selected, tr.tokens, tr.ribbon, nullif(position('d' IN tr.ribbon), 0) AS first_differs, tr.agreed::float8 / nullif(tr.compared, 0) AS agreement,
	ARRAY(SELECT DISTINCT rv.flag FROM reviews rv WHERE rv.trajectory_id = tr.id AND rv.flag <> '' ORDER BY 1) AS flags, tr.created_at, tr.started_at, tr.ended_at
	FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id JOIN iterations it ON it.id = tr.iteration_id`

// FindTrajectory returns a trajectory; CodeNotFound if there is none.
func (s *Store) FindTrajectory(ctx context.Context, id relabel.ID) (relabel.Trajectory, error) {
	return find[relabel.Trajectory](ctx, s, "trajectory", id, trajectorySelect+" WHERE tr.id = $1", id)
}

// ListAttempts lists a trajectory's attempts in order.
func (s *Store) ListAttempts(ctx context.Context, trajectory relabel.ID) ([]relabel.Attempt, error) {
	attempts, err := readAll[relabel.Attempt](ctx, s.pool,
		`SELECT number, worker, docker_host, container, started_at, ended_at,
		coalesce(outcome, '') AS outcome, coalesce(reason, '') AS reason, continued_by FROM attempts WHERE trajectory_id = $1 ORDER BY number`, trajectory)
	if err == nil && len(attempts) == 0 {
		_, err = s.FindTrajectory(ctx, trajectory)
	}
	return attempts, classify(err)
}

// FindPatch returns the submission, empty if the rollout produced none; CodeNotFound before the
// rollout has ended.
func (s *Store) FindPatch(ctx context.Context, trajectory relabel.ID) ([]byte, error) {
	patch, err := readValue[[]byte](ctx, s.pool, "SELECT p.patch FROM trajectories tr LEFT JOIN patches p ON p.trajectory_id = tr.id WHERE tr.id = $1", trajectory)
	if err == nil && patch == nil {
		return nil, relabel.Errorf(relabel.CodeNotFound, "the trajectory has no patch: its rollout has not ended")
	}
	return patch, notFound("trajectory", trajectory, err)
}

// verdictSelect reads verdicts v.
const (
	verdictSelect = "SELECT v.output, " + verdictRest
	verdictHeads  = "SELECT NULL::bytea AS output, " + verdictRest // without their output
	verdictRest   = `v.number, v.passed, v.reason, v.tests, v.infra, v.protections, v.canaries, v.dropped, v.dropped_count, v.score, v.hits, v.ranking, v.altered, v.altered_count, v.millis, v.at FROM verdicts v`
)

// FindVerdict returns the current verdict: the newest that is not an infrastructure error, else
// the newest. CodeNotFound if there is none.
func (s *Store) FindVerdict(ctx context.Context, trajectory relabel.ID) (relabel.Verdict, error) {
	return find[relabel.Verdict](ctx, s,
		"verdict on trajectory", trajectory, verdictSelect+" WHERE v.trajectory_id = $1 ORDER BY v.infra = '' DESC, v.number DESC LIMIT 1", trajectory)
}

// insertVerdict stores a verdict as the newest of its trajectory. The caller has locked the
// trajectory, so that numbers are unique.
func insertVerdict(ctx context.Context, tx pgx.Tx, trajectory relabel.ID, attempt int, v relabel.Verdict) error {
	_, err := tx.Exec(ctx, `INSERT INTO verdicts (trajectory_id, attempt, number, passed, reason, tests, output, infra, protections, dropped, dropped_count, millis, canaries,
			score, hits, ranking, altered, altered_count)
		SELECT $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, coalesce($6, ''::bytea), $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17 FROM verdicts WHERE trajectory_id = $1`,
		trajectory, attempt, v.Passed, validUTF8(string(v.Reason)), v.Tests, v.Output, validUTF8(v.Infra), v.Protections, keptPaths(v.Dropped), v.DroppedCount, v.Millis, v.Canaries,
		v.Score, v.Hits, keptRanking(v.Ranking), keptNames(v.Altered), v.AlteredCount)
	return err
}

// keptNames are the altered files to store, valid for Postgres; nil if there are none.
func keptNames(names []string) []string {
	var kept []string
	for _, name := range names[:min(len(names), relabel.MaxDroppedPaths)] {
		kept = append(kept, validUTF8(name))
	}
	return kept
}

// keptPaths are the dropped paths to store, valid for Postgres; nil if there are none.
func keptPaths(dropped []relabel.DroppedPath) []relabel.DroppedPath {
	if len(dropped) == 0 {
		return nil
	}
	kept := make([]relabel.DroppedPath, 0, min(len(dropped), relabel.MaxDroppedPaths))
	for _, d := range dropped[:cap(kept)] {
		kept = append(kept, relabel.DroppedPath{Path: validUTF8(d.Path), Reason: validUTF8(d.Reason)})
	}
	return kept
}

// keptRanking is the ranked answer to store, valid for Postgres; nil if there is none.
func keptRanking(ranking []relabel.Location) []relabel.Location {
	if len(ranking) == 0 {
		return nil
	}
	kept := make([]relabel.Location, 0, min(len(ranking), relabel.MaxLocations))
	for _, l := range ranking[:cap(kept)] {
		l.Name = validUTF8(l.Name)
		kept = append(kept, l)
	}
	return kept
}

// ListVerdicts lists a trajectory's verdicts without their output, newest first; none if there
// is no such trajectory.
func (s *Store) ListVerdicts(ctx context.Context, trajectory relabel.ID) ([]relabel.Verdict, error) {
	return listAll[relabel.Verdict](ctx, s,
		verdictHeads+" WHERE v.trajectory_id = $1 ORDER BY v.number DESC", trajectory)
}
