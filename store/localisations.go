package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// EachLocalisation passes the trajectories of an iteration whose tasks are to localise issues to each, in
// the order of the tasks' instance ids; none if there is no such iteration. Exit is the tool that ends a
// search.
func (s *Store) EachLocalisation(ctx context.Context, iteration relabel.ID, each func(relabel.LocalisationRollout)) error {
	rows, err := s.pool.Query(ctx, `SELECT tr.task_id, tr.ended_at IS NULL, coalesce(tr.submitted, false), tr.score, v.ranking, ta.gold_files, ta.gold_functions,
			tr.turns, tr.tool_calls - e.calls, tr.tool_failures - e.failures
		FROM trajectories tr JOIN tasks ta ON ta.id = tr.task_id
			LEFT JOIN LATERAL (SELECT ranking FROM verdicts WHERE trajectory_id = tr.id AND infra = '' ORDER BY number DESC LIMIT 1) v ON tr.score IS NOT NULL,
			LATERAL (SELECT count(*) AS calls, count(*) FILTER (WHERE failed) AS failures FROM observations
				WHERE trajectory_id = tr.id AND attempt = tr.trail AND tool = 'Exit' AND tr.score IS NOT NULL) e
		WHERE tr.iteration_id = $1 AND ta.kind = 'localise' ORDER BY ta.instance_id COLLATE "C", ta.id, tr.generation`, iteration)
	if err != nil {
		return classify(err)
	}
	var r relabel.LocalisationRollout
	var ranking []relabel.Location
	_, err = pgx.ForEachRow(rows, []any{&r.TaskID, &r.Open, &r.Submitted, &r.Score, &ranking, &r.GoldFiles, &r.GoldFunctions, &r.Turns, &r.Calls, &r.FailedCalls}, func() error {
		of := r
		of.Ranking = namesOf(ranking)
		each(of)
		r, ranking = relabel.LocalisationRollout{}, nil // what a row leaves out must not be that of the row before
		return nil
	})
	return classify(err)
}

// namesOf are the names of locations.
func namesOf(locations []relabel.Location) []string {
	names := make([]string, len(locations))
	for i, l := range locations {
		names[i] = l.Name
	}
	return names
}
