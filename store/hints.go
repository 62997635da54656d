package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// copyAnswers copies the first $3 entries of the answers of iteration $2 for run $1, one answer for each
// instance: the one of the first rollout that has a list. Instances without one are copied too.
const copyAnswers = `INSERT INTO hint_answers (run_id, instance_id, instance_key, repo_key, commit_key, functions)
	SELECT $1, ta.instance_id, ta.instance_key, ta.repo_key, ta.commit_key, coalesce(an.functions, '{}')
	FROM tasks ta LEFT JOIN LATERAL (SELECT ARRAY(SELECT e.entry->>'name' FROM json_array_elements(ve.ranking) WITH ORDINALITY AS e (entry, place)
			WHERE e.place <= $3::integer ORDER BY e.place) AS functions
		FROM trajectories tr, LATERAL (SELECT ranking FROM verdicts WHERE trajectory_id = tr.id AND infra = '' ORDER BY number DESC LIMIT 1) ve
		WHERE tr.iteration_id = $2 AND tr.task_id = ta.id AND json_array_length(ve.ranking) > 0 ORDER BY tr.generation LIMIT 1) an ON true
	WHERE ta.id IN (SELECT task_id FROM trajectories WHERE iteration_id = $2)`

// hintsFor are the hints of run $1 for the tasks ta in scope: the answer for the same instance or, if there is
// none, the answer at the same repository and commit. A commit can have several issues, so that it counts only
// if one answer and one task of the task set are there.
func hintsFor(scope string) string {
	otherAnswer := strings.ReplaceAll(sameCommit, "has.", "other.")
	otherTask := strings.ReplaceAll(sameCommit, "ta.", "other.")
	return `SELECT task_id, functions FROM (SELECT DISTINCT ON (task_id) task_id, functions FROM (
			SELECT ta.id AS task_id, has.functions, has.instance_id, false AS by_commit FROM hint_answers has JOIN tasks ta ON ` + sameInstance + `
			WHERE has.run_id = $1 AND ta.kind = 'repair' AND ` + scope + `
			UNION ALL
			SELECT ta.id, has.functions, has.instance_id, true FROM hint_answers has JOIN tasks ta ON ` + sameCommit + `
			WHERE has.run_id = $1 AND ta.kind = 'repair' AND ` + scope + `
				AND NOT EXISTS (SELECT FROM hint_answers other WHERE other.run_id = $1 AND other.instance_id <> has.instance_id AND ` + otherAnswer + `)
				AND NOT EXISTS (SELECT FROM tasks other WHERE other.taskset_id = ta.taskset_id AND other.instance_id <> ta.instance_id AND ` + otherTask + `)
		) found ORDER BY task_id, by_commit, instance_id) nearest WHERE functions <> '{}'`
}

// copyHints copies the answers that a run takes hints from, so that these last. CodeInvalid if they are of no
// task of its task set and of no benchmark, CodeConflict if the run that they are of is being deleted.
func copyHints(ctx context.Context, tx pgx.Tx, r relabel.Run, from relabel.HintSource) error {
	if err := keepRun(ctx, tx, itself, from.RunID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, copyAnswers, r.ID, from.IterationID, from.Top); err != nil {
		return err
	}
	err := tx.QueryRow(ctx, "SELECT count(*), count(*) FILTER (WHERE functions <> '{}') FROM hint_answers WHERE run_id = $1", r.ID).Scan(&from.Instances, &from.Answers)
	if err != nil {
		return err
	}
	var inBenchmarks int
	err = tx.QueryRow(ctx, "SELECT (SELECT count(*) FROM ("+hintsFor(atRevision("$2", "$3"))+") own), (SELECT count(*) FROM ("+
		hintsFor("ta.id IN (SELECT task_id FROM benchmark_tasks)")+") measured)", r.ID, r.TasksetID, r.TasksetRevision).Scan(&from.Tasks, &inBenchmarks)
	if err != nil {
		return err
	}
	if from.Tasks+inBenchmarks == 0 {
		return relabel.Errorf(relabel.CodeInvalid, "evaluation %d of the run %s has answers for %d of %d instances, and none is of a task of this task set or of a benchmark: "+
			"compared by instance id, then by repository and base commit", from.Evaluation, from.Run, from.Answers, from.Instances).On("hints_from")
	}
	_, err = tx.Exec(ctx, `INSERT INTO run_hints (run_id, from_run_id, from_run, from_iteration_id, evaluation, top, instances, answers, tasks)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, r.ID, from.RunID, from.Run, from.IterationID, from.Evaluation, from.Top, from.Instances, from.Answers, from.Tasks)
	return err
}

// giveHints stores the hints of the run for the tasks of a new iteration. Those that a task has stay.
func giveHints(ctx context.Context, tx pgx.Tx, it relabel.Iteration) error {
	_, err := tx.Exec(ctx, "INSERT INTO task_hints (run_id, task_id, functions) SELECT $1, task_id, functions FROM ("+
		hintsFor("ta.id IN (SELECT task_id FROM trajectories WHERE iteration_id = $2)")+") given ON CONFLICT DO NOTHING", it.RunID, it.ID)
	return err
}
