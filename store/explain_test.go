package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

func TestEveryFilterIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	exec(t, s, `INSERT INTO tasks SELECT gen_random_uuid(), taskset_id, 'other-' || n, repo, base_commit, image, workdir, problem_statement, hints_text,
		patch, test_patch, test_cmd, log_parser, fail_to_pass, pass_to_pass, held_out FROM tasks, generate_series(1, 500) n`)
	exec(t, s, `INSERT INTO runs SELECT gen_random_uuid(), name || n, recipe, scaffold, prompts, taskset_id, instances, teacher_id, beta, rho, labels,
		max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, seed FROM runs, generate_series(1, 40) n`)
	exec(t, s, `INSERT INTO iterations (id, run_id, number, kind, student_id, generations, trajectories, open)
		SELECT gen_random_uuid(), id, 1, 'collect', $1, 1, 501, 1 FROM runs WHERE id <> $2`, d.Student.ID, d.Run.ID)
	exec(t, s, "ALTER TABLE trajectories DISABLE TRIGGER USER")
	exec(t, s, `INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors, state, attempt, trail, started_at, ended_at,
			end_reason, patch_bytes, submitted, resolved, failure, failure_detail, created_at)
		SELECT gen_random_uuid(), it.run_id, it.id, 'collect', ta.id, 0, 'sTs', x.state, 1, 1, now(), now(),
			CASE WHEN x.state = 'done' THEN x.reason END, CASE WHEN x.state = 'done' THEN 1 END, CASE WHEN x.state = 'done' THEN x.n % 101 > 0 END,
			CASE WHEN x.state = 'done' THEN x.n % 100 = 0 END, x.failure, CASE WHEN x.failure IS NOT NULL THEN '' END, now() - x.n * interval '1 ms'
		FROM iterations it CROSS JOIN tasks ta
		CROSS JOIN LATERAL (SELECT n, CASE WHEN n % 97 = 0 THEN 'failed' ELSE 'done' END AS state, CASE WHEN n % 89 = 0 THEN 'context' ELSE 'finish' END AS reason,
			CASE WHEN n % 97 = 0 THEN CASE WHEN n % 5 = 0 THEN 'endpoint' ELSE 'environment' END END AS failure
			FROM (SELECT (abs(hashtext(it.id::text || ta.id::text)) % 20000) AS n) y) x
		WHERE it.id <> $1`, d.Iteration.ID)
	exec(t, s, "INSERT INTO reviews SELECT gen_random_uuid(), id, NULL, 'f' || abs(hashtext(id::text)) % 50, '', '' FROM trajectories ORDER BY id LIMIT 500")
	exec(t, s, "ANALYZE")
	if n := value[int](t, s, "SELECT count(*) FROM trajectories"); n < 20000 {
		t.Fatalf("%d trajectories are too few to choose an index for", n)
	}
	no, middle := false, value[time.Time](t, s, "SELECT created_at FROM trajectories ORDER BY created_at OFFSET 10000 LIMIT 1")
	for want, f := range map[string]relabel.TrajectoryFilter{
		"trajectories_page":          {},
		"trajectories_run":           {RunID: &d.Run.ID},
		"trajectories_of_iteration":  {IterationID: &d.Iteration.ID},
		"trajectories_task":          {TaskID: &d.Tasks[0].ID},
		"tasks_instance_id":          {InstanceID: d.Tasks[0].InstanceID},
		"trajectories_state":         {State: relabel.Failed},
		"trajectories_by_end_reason": {EndReason: relabel.EndContext},
		"trajectories_by_failure":    {Failure: relabel.FailEndpoint},
		"trajectories_by_verdict":    {Verdict: relabel.VerdictPassed},
		"trajectories_by_submitted":  {Submitted: &no},
		"reviews_by_flag":            {Flag: "f7"},
		"reviews_of_trajectory":      {RunID: &d.Run.ID, Flag: relabel.AnyFlag},
	} {
		for _, after := range []*time.Time{nil, &middle} {
			plan, err := s.Explain(ctx, f, after)
			must(t, err)
			if !strings.Contains(plan, want) || strings.Contains(plan, "Seq Scan on trajectories") {
				t.Errorf("%+v after %v is not served by %s:\n%s", f, after, want, plan)
			}
		}
	}
}
