package store

import (
	"context"

	"relabel"
)

// graded are the trajectories tr that count as resolved or not: those with a verdict, and those that
// submitted nothing, unless they are not to be verified: without the submissions among these, they
// would make the share of resolved ones too small. A score is neither resolved nor not, and nor is a
// rollout that was cut.
const graded = "(tr.state = 'done' AND tr.verdict NOT IN ('scored', 'cut') AND (tr.passed IS NOT NULL OR NOT (tr.submitted OR tr.skip_verify)))"

// ListTaskResults returns the results of an iteration by task, in the order of instance ids; none if
// there is no such iteration.
func (s *Store) ListTaskResults(ctx context.Context, iteration relabel.ID) ([]relabel.TaskResults, error) {
	return listAll[relabel.TaskResults](ctx, s, `SELECT tr.task_id, ta.instance_id, ta.repo AS repository,
			EXISTS (SELECT FROM task_hints th WHERE th.run_id = tr.run_id AND th.task_id = tr.task_id) AS hinted,
			count(*) FILTER (WHERE graded) AS graded, count(*) FILTER (WHERE graded AND tr.submitted) AS submitted, count(*) FILTER (WHERE tr.resolved) AS resolved,
			count(tr.score) FILTER (WHERE graded) AS rewarded, coalesce(sum(tr.score) FILTER (WHERE graded), 0)::float8 AS rewards,
			count(*) FILTER (WHERE tr.verdict = 'unverified') AS unverified,
			count(*) FILTER (WHERE tr.state IN ('done', 'failed') AND NOT graded AND tr.verdict NOT IN ('unverified', 'scored', 'cut')) AS infrastructure,
			count(*) FILTER (WHERE tr.state = 'cancelled') AS cancelled, count(*) FILTER (WHERE tr.ended_at IS NULL) AS open
		FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id,
			LATERAL (SELECT `+graded+` AS graded) g
		WHERE tr.iteration_id = $1 GROUP BY tr.run_id, tr.task_id, ta.repo, ta.instance_id ORDER BY ta.instance_id COLLATE "C"`, iteration)
}
