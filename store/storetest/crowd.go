package storetest

import (
	"context"
	"testing"

	"relabel"
	"relabel/store"
)

// Crowd is a schema full of trajectories, for what has to be fast in one.
type Crowd struct {
	Seeded             // Run has ten iterations with n trajectories in all; Iteration is its last, which still runs
	Other  relabel.Run // has one iteration with a tenth of n
	Tasks  int         // each task is rolled out twice an iteration
	Middle relabel.ID  // an iteration of Run that is done
	First  relabel.ID  // a trajectory that is done
}

// SeedCrowd stores n trajectories of a run, and a tenth of that of another one, with
// their turns and actions, 2·turns at most and turns on average. It does so in SQL and
// without the foreign keys of turns and actions, which would take longer than all the
// rest, and without observations and calls. n is a multiple of 200.
func SeedCrowd(t testing.TB, s *store.Store, n, turns int) Crowd {
	t.Helper()
	d := Seed(t, s, 1)
	c := Crowd{Seeded: d, Tasks: n / 20}
	for _, sql := range crowdKeys {
		execute(t, s, sql)
	}
	execute(t, s, crowdTasks, c.Tasks)
	execute(t, s, `INSERT INTO runs SELECT gen_random_uuid(), 'other ' || name, recipe, scaffold, prompts, taskset_id, instances, teacher_id, beta, rho, labels,
		max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, seed FROM runs`)
	execute(t, s, "DELETE FROM trajectories")
	execute(t, s, `UPDATE iterations SET state = 'done', trajectories = 2 * $1, open = 0, ended_at = now()`, c.Tasks)
	execute(t, s, `INSERT INTO iterations (id, run_id, number, kind, student_id, beta, generations, trajectories, state, open, ended_at)
		SELECT gen_random_uuid(), run_id, n, 'collect', student_id, 1 - n / 10.0, 2, 2 * $1, CASE n WHEN 10 THEN 'running' ELSE 'done' END,
			CASE n WHEN 10 THEN 1 ELSE 0 END, CASE WHEN n < 10 THEN now() END FROM iterations, generate_series(2, 10) n
		UNION ALL SELECT gen_random_uuid(), (SELECT id FROM runs WHERE id <> run_id), 1, 'collect', student_id, 0.5, 2, 2 * $1, 'done', 0, now() FROM iterations`, c.Tasks)
	execute(t, s, crowdTrajectories, c.Tasks, turns, d.Run.ID)
	execute(t, s, "ANALYZE trajectories") // or the keys to it may be checked by reading all of it each time
	execute(t, s, "INSERT INTO patches SELECT id, 'diff --git a' FROM trajectories WHERE patch_bytes > 0")
	execute(t, s, crowdAttempts)
	execute(t, s, crowdTurns)
	execute(t, s, crowdActions, d.Teacher.ID, d.Student.ID)
	execute(t, s, `UPDATE iterations it SET open = (SELECT count(*) FROM trajectories WHERE iteration_id = it.id AND ended_at IS NULL) WHERE state = 'running'`)
	execute(t, s, "VACUUM ANALYZE")
	read := func(into any, sql string) {
		t.Helper()
		must(t, s.Pool().QueryRow(context.Background(), sql, d.Run.ID).Scan(into))
	}
	read(&c.Iteration.ID, "SELECT id FROM iterations WHERE run_id = $1 AND number = 10")
	read(&c.Middle, "SELECT id FROM iterations WHERE run_id = $1 AND number = 5")
	read(&c.First, "SELECT id FROM trajectories WHERE run_id = $1 AND state = 'done' AND turns > 1 ORDER BY created_at, id LIMIT 1")
	var other relabel.ID
	read(&other, "SELECT id FROM runs WHERE id <> $1")
	var err error
	c.Other, err = s.FindRun(context.Background(), other)
	must(t, err)
	return c
}

func execute(t testing.TB, s *store.Store, sql string, args ...any) {
	t.Helper()
	if _, err := s.Pool().Exec(context.Background(), sql, args...); err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
}

var crowdKeys = []string{
	"ALTER TABLE turns DROP CONSTRAINT turns_executed, DROP CONSTRAINT turns_label, DROP CONSTRAINT turns_attempt, DROP CONSTRAINT turns_kind",
	"ALTER TABLE actions DROP CONSTRAINT actions_turn, DROP CONSTRAINT actions_policy, DROP CONSTRAINT actions_prompt_base",
	"ALTER TABLE trajectories DISABLE TRIGGER USER", // no event for each
	"ALTER TABLE iterations DISABLE TRIGGER USER",
	"ALTER TABLE runs DISABLE TRIGGER USER",
	// dice(k, salt, n) is a number below n, the same each time.
	`CREATE FUNCTION dice(k bigint, salt integer, n integer) RETURNS integer LANGUAGE sql IMMUTABLE AS
		'SELECT ((hashint8extended(k, salt) & 9223372036854775807) % n)::integer'`,
}

const crowdTasks = `INSERT INTO tasks SELECT gen_random_uuid(), taskset_id, (ARRAY['django', 'sympy', 'pandas', 'flask'])[n % 4 + 1] || '__' || n,
	repo, base_commit, image, workdir, problem_statement || convert_to((SELECT string_agg(md5(n::text || x), ' ') FROM generate_series(1, 40) x), 'UTF8'),
	hints_text, patch, test_patch, test_cmd, log_parser, fail_to_pass, pass_to_pass, held_out FROM tasks, generate_series(2, $1::integer) n`

// crowdTrajectories draws each trajectory k: executors by the iteration's β, how it
// stands, and its ribbon; the counts follow from that.
const crowdTrajectories = `WITH places AS (
		SELECT row_number() OVER (ORDER BY it.run_id = $3 DESC, it.number, g, ta.id) AS k, it.*, ta.id AS task_id, g
		FROM iterations it, (SELECT id FROM tasks) ta, generate_series(0, 1) g),
	drawn AS MATERIALIZED (SELECT places.*, CASE WHEN state = 'running' AND dice(k, 1, 100) < 30 THEN 'queued' WHEN state = 'running' AND dice(k, 1, 100) = 30 THEN 'running'
			WHEN dice(k, 2, 100) < 5 THEN 'failed' WHEN dice(k, 2, 100) < 7 THEN 'cancelled' ELSE 'done' END AS stands, 1 + dice(k, 3, 2 * $2 - 1) AS acted,
		(SELECT string_agg(CASE WHEN dice(k * 1000 + t, 4, 100) < beta * 100 THEN 'T' ELSE 's' END, '') FROM generate_series(1, 2 * $2) t) AS executors
		FROM places WHERE $1 > 0),
	acted AS MATERIALIZED (SELECT drawn.*, CASE stands WHEN 'queued' THEN '' ELSE (SELECT string_agg(CASE WHEN substr(executors, t, 1) = 'T' THEN 'T'
			WHEN dice(k * 1000 + t, 5, 200) = 0 THEN 's' WHEN dice(k * 1000 + t, 6, 100) < 60 + 3 * number THEN 'a' ELSE 'd' END, '' ORDER BY t)
			FROM generate_series(1, acted) t) END AS ribbon FROM drawn)
	INSERT INTO trajectories (id, run_id, iteration_id, kind, task_id, generation, executors, state, attempt, trail, owner, lease_until, started_at, ended_at,
		end_reason, patch_bytes, submitted, passed, verdict_reason, protections, failure, failure_detail, turns, teacher_turns, labels_received, labels_pending, labels_missing, compared, agreed,
		ribbon, tokens, tool_calls, tool_failures, student_tool_calls, student_tool_failures, created_at)
	SELECT gen_random_uuid(), run_id, id, 'collect', task_id, g, executors, stands, a.n, a.n, CASE stands WHEN 'running' THEN 'w' END, CASE stands WHEN 'running' THEN now() END,
		CASE WHEN stands <> 'queued' THEN now() END, CASE WHEN stands NOT IN ('queued', 'running') THEN now() END,
		r.reason, CASE WHEN r.reason IS NOT NULL THEN 12 END,
		CASE WHEN r.reason IS NOT NULL THEN dice(k, 7, 20) > 0 END, CASE WHEN stands = 'done' THEN dice(k, 8, 100) < 20 + 4 * number END,
		CASE WHEN stands <> 'done' THEN NULL WHEN dice(k, 8, 100) < 20 + 4 * number THEN 'passed' WHEN dice(k, 12, 100) < 80 THEN 'tests' WHEN dice(k, 12, 100) < 97 THEN 'empty_patch' ELSE 'tests_timed_out' END,
		CASE WHEN stands = 'done' THEN 0 END,
		CASE stands WHEN 'failed' THEN (ARRAY['environment', 'environment', 'endpoint', 'verifier', 'secret'])[dice(k, 9, 5) + 1] END,
		CASE stands WHEN 'failed' THEN 'the sandbox broke' END,
		length(ribbon), c.teacher, c.teacher + c.agreed + c.differs, CASE stands WHEN 'running' THEN c.without ELSE 0 END, CASE stands WHEN 'running' THEN 0 ELSE c.without END,
		c.agreed + c.differs, c.agreed, ribbon, length(ribbon) * (4000 + dice(k, 10, 4000)), length(ribbon), length(ribbon) / 10,
		length(ribbon) - c.teacher, (length(ribbon) - c.teacher) / 8, now() - interval '30 days' + k * interval '20 ms'
	FROM acted, LATERAL (SELECT CASE stands WHEN 'queued' THEN 0 ELSE 1 END AS n) a,
		LATERAL (SELECT CASE stands WHEN 'done' THEN CASE WHEN dice(k, 11, 100) < 80 THEN 'finish' WHEN dice(k, 11, 100) < 92 THEN 'max_turns'
			WHEN dice(k, 11, 100) < 96 THEN 'context' WHEN dice(k, 11, 100) < 99 THEN 'wall_clock' ELSE 'no_call' END END AS reason) r,
		LATERAL (SELECT length(replace(ribbon, 'T', 'TT')) - length(ribbon) AS teacher, length(replace(ribbon, 'a', 'aa')) - length(ribbon) AS agreed,
			length(replace(ribbon, 'd', 'dd')) - length(ribbon) AS differs, length(replace(ribbon, 's', 'ss')) - length(ribbon) AS without) c`

const crowdAttempts = `INSERT INTO attempts (trajectory_id, number, worker, ended_at, outcome)
	SELECT id, 1, 'w', ended_at, CASE state WHEN 'running' THEN NULL ELSE state END FROM trajectories WHERE attempt = 1`

const crowdTurns = `INSERT INTO turns (trajectory_id, attempt, t, kind, executor, executor_policy_id, executor_sample, label_policy_id, label_sample, agrees, tree,
		started_at, ended_at, endpoint_ms, sandbox_ms, database_ms)
	SELECT tr.id, 1, t, 'collect', CASE x.letter WHEN 'T' THEN 'teacher' ELSE 'student' END, CASE x.letter WHEN 'T' THEN ru.teacher_id ELSE it.student_id END, 0,
		ru.teacher_id, 0, CASE x.letter WHEN 'a' THEN true WHEN 'd' THEN false END, md5(t::text), tr.started_at, tr.started_at, 1, 300, 2
	FROM trajectories tr JOIN iterations it ON it.id = tr.iteration_id JOIN runs ru ON ru.id = tr.run_id, generate_series(1, tr.turns) t,
		LATERAL (SELECT substr(tr.ribbon, t, 1) AS letter) x`

// crowdActions stores what was executed and, of the student's turns, the labels. The
// sentences are some hundred letters long and each has a word that few others have.
const crowdActions = `INSERT INTO actions (trajectory_id, attempt, t, policy_id, sample, status, reason, raw, finish_reason, parse, prompt_tokens, completion_tokens, cached_tokens, model)
	SELECT tu.trajectory_id, 1, tu.t, a.policy, 0, a.status, CASE a.status WHEN 'missing' THEN 'endpoint: gone' END,
		CASE a.status WHEN 'received' THEN convert_to('{"role":"assistant","content":"I look at word' || dice(hashtext(tu.trajectory_id::text), tu.t, 100000) ||
			' next, because the test that fails names it. Then I shall change what it returns, and run the tests again.","tool_calls":[{"id":"c","type":"function","function":{"name":"execute_bash","arguments":"{\"command\":\"grep -rn ' ||
			substr(md5(tu.trajectory_id::text || tu.t), 1, 12) || ' src\"}"}}]}', 'UTF8') END, 'tool_calls', 'ok', 4000, 100, 3000, 'm'
	FROM turns tu JOIN trajectories tr ON tr.id = tu.trajectory_id, LATERAL (
		SELECT tu.executor_policy_id AS policy, 'received' AS status
		UNION ALL SELECT tu.label_policy_id, CASE WHEN tu.agrees IS NOT NULL THEN 'received' WHEN tr.labels_pending > 0 THEN 'pending' ELSE 'missing' END WHERE tu.executor = 'student') a
	WHERE a.policy IN ($1, $2)`
