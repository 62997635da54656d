package store

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

var runSelect = `SELECT ru.id, ru.name, ru.recipe, ru.scaffold, ru.task_kind, ru.prompts, ru.taskset_id, ru.taskset_revision, ru.instances, coalesce(ru.teacher_id, '00000000-0000-0000-0000-000000000000') AS teacher_id, ru.beta, ru.rho, ru.labels, ru.label_rule, ru.verify,
	` + limitsOf("ru") + ` AS limits,
	ru.seed, ru.draw, coalesce(ru.tasks_per_round, 0) AS tasks_per_round, coalesce(ru.generations, 0) AS generations,
	coalesce(ru.rounds, 0) AS rounds, coalesce(ru.preset, '') AS preset, ru.trainer,
	(SELECT json_build_object('run_id', rh.from_run_id, 'run', rh.from_run, 'iteration_id', rh.from_iteration_id, 'evaluation', rh.evaluation, 'top', rh.top,
		'instances', rh.instances, 'answers', rh.answers, 'tasks', rh.tasks) FROM run_hints rh WHERE rh.run_id = ru.id) AS hints_from,
	ru.allow_benchmarks, ru.priority, coalesce(ru.quota, 0) AS quota, ru.paused,
	CASE WHEN ru.budget_tokens IS NOT NULL OR ru.budget_micros IS NOT NULL
		THEN json_build_object('tokens', coalesce(ru.budget_tokens, 0), 'cost', coalesce(ru.budget_micros, 0) / 1e6::float8) END AS budget,
	ru.webhook, ru.created_at, ru.deleting_at FROM runs ru`

const runInsert = `INSERT INTO runs (id, name, recipe, scaffold, prompts, taskset_id, instances, teacher_id, beta, rho, labels,
	max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, seed,
	budget_tokens, budget_micros, webhook, draw, tasks_per_round, generations, rounds, preset, trainer, allow_benchmarks, verify, label_rule,
	task_kind, score_depth, observation_bytes, max_prompt_tokens, max_response_tokens, taskset_revision)
	VALUES ($1, $2, $3, $4, $5, $6, $7, nullif($8, '00000000-0000-0000-0000-000000000000'::uuid), $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, nullif($19::bigint, 0), nullif($20::bigint, 0), $21,
	$22, nullif($23::integer, 0), nullif($24::integer, 0), nullif($25::integer, 0), nullif($26, ''), $27, $28, coalesce(nullif($29, ''), 'all'), coalesce(nullif($30, ''), 'all'), coalesce(nullif($31, ''), 'repair'), $32, $33, $34, $35, $36)`

// CreateRun stores a run, which never changes afterwards, with a copy of its hints. CodeConflict if the name is
// taken, CodeInvalid if the answers that it takes hints from are of none of its tasks.
func (s *Store) CreateRun(ctx context.Context, r relabel.Run) error {
	r.ID = ensureID(r.ID)
	return s.retryTx(ctx, unlessCreated("runs", r.ID), func(tx pgx.Tx, _ bool) error { return insertRun(ctx, tx, r) })
}

func insertRun(ctx context.Context, tx pgx.Tx, r relabel.Run) error {
	var instances []string // null, not [], where the run takes every task
	if len(r.Instances) > 0 {
		instances = r.Instances
	}
	labels := r.Labels
	if labels == "" {
		labels = relabel.LabelsInline
	}
	budget := relabel.Budget{}
	if r.Budget != nil {
		budget = *r.Budget
	}
	_, err := tx.Exec(ctx, runInsert, r.ID, r.Name, r.Recipe, r.Scaffold, r.Prompts, r.TasksetID, instances, r.TeacherID, r.Beta, r.Rho, labels,
		r.Limits.MaxTurns, r.Limits.MaxContextTokens, r.Limits.WallClockSeconds, r.Limits.CommandSeconds, r.Limits.VerifySeconds, r.Limits.EnvironmentRetries, r.Seed,
		budget.Tokens, budget.CostMicros(), r.Webhook, cmp.Or(r.Draw, relabel.DrawAnew), r.TasksPerRound, r.Generations, r.Rounds, r.Preset, r.Trainer, noneAsNull(r.AllowBenchmarks), r.Verify, r.LabelRule,
		r.TaskKind, r.Limits.ScoreDepth, r.Limits.ObservationBytes, r.Limits.MaxPromptTokens, r.Limits.MaxResponseTokens, max(r.TasksetRevision, 1))
	if err != nil || r.HintsFrom == nil {
		return taken(err, "runs_name", "run", r.Name, "choose another name, or go on with that run by starting its next iteration")
	}
	return copyHints(ctx, tx, r, *r.HintsFrom)
}

// FindRun returns a run; CodeNotFound if there is none.
func (s *Store) FindRun(ctx context.Context, id relabel.ID) (relabel.Run, error) {
	return find[relabel.Run](ctx, s, "run", id, runSelect+" WHERE ru.id = $1", id)
}

// FindRunByName returns the run of this name; CodeNotFound if there is none.
func (s *Store) FindRunByName(ctx context.Context, name string) (relabel.Run, error) {
	return find[relabel.Run](ctx, s, "run", name, runSelect+" WHERE ru.name = $1", validUTF8(name))
}

// ListRuns lists runs, newest first. CodeInvalid for an invalid page.
func (s *Store) ListRuns(ctx context.Context, p relabel.Page) ([]relabel.Run, string, error) {
	l := list[relabel.Run]{query: runSelect, key: "ru",
		keyOf: func(r relabel.Run) cursor { return cursor{r.CreatedAt, r.ID} }}
	return l.page(ctx, s, p)
}

// sampledTrajectories bounds the trajectories of which calls and bytes are read; larger runs
// get estimates.
const sampledTrajectories = 200

// contentsSelect counts the contents of run $1. It extrapolates calls and bytes from at most $2
// trajectories, since the exact sums require reading the whole run.
const contentsSelect = `WITH had AS (SELECT count(*) AS n, coalesce(sum(turns), 0)::bigint AS turns FROM trajectories WHERE run_id = $1),
	sample AS MATERIALIZED (SELECT id FROM trajectories WHERE run_id = $1 ORDER BY hashtext(id::text), id LIMIT $2),
	part AS (SELECT count(*) AS n, coalesce(sum(c.n), 0) AS calls, coalesce(sum(o.n + ac.n), 0) AS bytes FROM sample sa,
		LATERAL (SELECT count(*) AS n FROM calls WHERE trajectory_id = sa.id) c,
		LATERAL (SELECT coalesce(sum(pg_column_size(x.content)), 0) AS n FROM observations x WHERE x.trajectory_id = sa.id) o,
		LATERAL (SELECT coalesce(sum(pg_column_size(x.*)), 0) AS n FROM actions x WHERE x.trajectory_id = sa.id) ac)
	SELECT (SELECT count(*) FROM iterations it WHERE it.run_id = $1) AS iterations, had.n AS trajectories, had.turns,
		coalesce(round(part.calls * had.n / nullif(part.n, 0)), 0)::bigint AS calls,
		(SELECT count(*) FROM trajectories tr JOIN reviews re ON re.trajectory_id = tr.id WHERE tr.run_id = $1) AS reviews,
		(SELECT count(*) FROM exports ex WHERE ex.run_id = $1) AS exports,
		coalesce(round(part.bytes * had.n / nullif(part.n, 0)), 0)::bigint AS bytes, '' AS refused, false AS deleting
	FROM had, part`

// CountRun counts the contents of a run and reports whether it can be deleted; calls and bytes
// of a run of more than sampledTrajectories are estimates. CodeNotFound if there is none.
func (s *Store) CountRun(ctx context.Context, id relabel.ID) (relabel.RunContents, error) {
	run, err := s.FindRun(ctx, id)
	if err != nil {
		return relabel.RunContents{}, err
	}
	c, err := readOne[relabel.RunContents](ctx, s.pool, contentsSelect, id, sampledTrajectories)
	if err != nil {
		return c, classify(err)
	}
	c.Deleting = run.DeletingAt != nil
	c.Refused, err = inUse(ctx, s.pool, id)
	return c, classify(err)
}

// inUse returns why a run cannot be deleted now and the remedy, "" if it can.
func inUse(ctx context.Context, db querier, run relabel.ID) (why string, err error) {
	var running, open int
	var export, pushed, teacher, scorer, judge string
	var regrades bool
	err = db.QueryRow(ctx, `SELECT (SELECT count(*) FROM iterations WHERE run_id = $1 AND state = 'running'),
		(SELECT count(*) FROM trajectories WHERE run_id = $1 AND state NOT IN ('done', 'failed', 'cancelled')),
		coalesce((SELECT id::text FROM exports ex WHERE (run_id = $1 OR EXISTS (SELECT FROM export_sources WHERE export_id = ex.id AND run_id = $1))
			AND state IN ('queued', 'running') ORDER BY created_at LIMIT 1), ''),
		coalesce((SELECT ex.id::text FROM exports ex JOIN export_pushes pu ON pu.export_id = ex.id
			WHERE ex.run_id = $1 AND pu.state IN ('queued', 'running') ORDER BY pu.created_at LIMIT 1), ''),
		coalesce((SELECT po.name || '@' || po.version FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN policies po ON po.id = re.policy_id
			WHERE re.state IN ('queued', 'running') AND tr.run_id = $1 LIMIT 1), ''),
		coalesce((SELECT po.name || '@' || po.version FROM scorings sc JOIN trajectories tr ON tr.id = sc.trajectory_id JOIN policies po ON po.id = sc.policy_id
			WHERE sc.state IN ('queued', 'running') AND tr.run_id = $1 LIMIT 1), ''),
		coalesce((SELECT po.name || '@' || po.version FROM judgings jo JOIN trajectories tr ON tr.id = jo.trajectory_id JOIN policies po ON po.id = jo.policy_id
			WHERE jo.state IN ('queued', 'running') AND tr.run_id = $1 LIMIT 1), ''),
		EXISTS (SELECT FROM regradings re JOIN trajectories tr ON tr.id = re.trajectory_id WHERE re.state IN ('queued', 'running') AND tr.run_id = $1)`,
		run).Scan(&running, &open, &export, &pushed, &teacher, &scorer, &judge, &regrades)
	switch {
	case err != nil:
		return "", err
	case running > 0 || open > 0:
		return "it has iterations that run: wait for them, or end them with `relabel run cancel RUN`", nil
	case export != "":
		return "the export " + export + " of it is being built: wait for it, or end it with `relabel export cancel " + export + "`", nil
	case pushed != "":
		return "the export " + pushed + " of it is being pushed: wait for it, or end it with `relabel export push " + pushed + " --cancel`", nil
	case teacher != "":
		return "trajectories of it are being relabelled: wait for that, or end it with `relabel run relabel RUN --teacher " + teacher + " --cancel`", nil
	case scorer != "":
		return "trajectories of it are being scored: wait for that, or end it with `relabel run score RUN --policy " + scorer + " --cancel`", nil
	case judge != "":
		return "trajectories of it are being judged: wait for that, or end it with `relabel run judge RUN --policy " + judge + " --cancel`", nil
	case regrades:
		return "submissions of it are being graded again: wait for that, or end it with `relabel run verify RUN --cancel`", nil
	}
	return "", nil
}

// deletionSteps delete the contents of run $1, at most $2 units per statement, with references
// before their targets. A step is finished when it deletes nothing. Each unit includes the rows
// that belong to it.
var deletionSteps = []struct {
	statement string
	units     int
}{
	{"DELETE FROM trajectories WHERE id IN (SELECT id FROM trajectories WHERE run_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2)", 20},
	{"DELETE FROM iterations WHERE id IN (SELECT id FROM iterations WHERE run_id = $1 LIMIT $2)", 20},
	{"DELETE FROM benchmarks WHERE id IN (SELECT be.id FROM benchmarks be WHERE $1::uuid IS NOT NULL AND be.name IS NULL" +
		" AND NOT EXISTS (SELECT FROM iterations it WHERE it.benchmark_id = be.id) LIMIT $2 FOR UPDATE SKIP LOCKED)", 20},
	{"DELETE FROM exports WHERE id IN (SELECT id FROM exports WHERE run_id = $1 LIMIT $2)", 1},
	{"DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE run_id = $1 LIMIT $2)", purgeBatch},
	{"DELETE FROM events WHERE id IN (SELECT id FROM events WHERE run_id = $1 LIMIT $2)", purgeBatch},
	{"DELETE FROM task_hints WHERE (run_id, task_id) IN (SELECT run_id, task_id FROM task_hints WHERE run_id = $1 LIMIT $2)", purgeBatch},
	{"DELETE FROM hint_answers WHERE (run_id, instance_id) IN (SELECT run_id, instance_id FROM hint_answers WHERE run_id = $1 LIMIT $2)", purgeBatch},
	{"DELETE FROM runs WHERE id = $1 AND $2::integer > 0", 1},
}

// BeginDeletion marks a run as being deleted: it takes no new work, and FinishDeletion deletes
// it. A marked run stays marked. CodeNotFound if there is none, CodeConflict while an iteration
// or export runs, or trajectories are relabelled, scored, judged or graded again. None of these can begin
// between the check and the mark.
func (s *Store) BeginDeletion(ctx context.Context, run relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		marked, err := readValue[bool](ctx, tx, "SELECT deleting_at IS NOT NULL FROM runs WHERE id = $1 FOR UPDATE", run)
		if err != nil || marked {
			return notFound("run", run, err)
		}
		why, err := inUse(ctx, tx, run)
		if err != nil {
			return err
		}
		if why != "" {
			return relabel.Errorf(relabel.CodeConflict, "the run cannot be deleted: %s", why)
		}
		if _, err := tx.Exec(ctx, "UPDATE runs SET deleting_at = clock_timestamp() WHERE id = $1", run); err != nil {
			return err
		}
		// Only waiting jobs: the queue's workers end running ones.
		_, err = tx.Exec(ctx, `DELETE FROM river_job j WHERE j.state <> 'running' AND j.kind = 'export'
			AND (j.args->>'export_id')::uuid IN (SELECT ex.id FROM exports ex WHERE ex.run_id = $1)`, run)
		return err
	})
}

// FinishDeletion deletes a run that BeginDeletion marked, with its iterations, trajectories and
// all their data, entries of exports (not their files) and events. Each transaction deletes a
// bounded number of rows, and committed deletions stay when ctx ends. It ignores a run that is
// gone or not marked. Any number of processes may call it for one run.
func (s *Store) FinishDeletion(ctx context.Context, run relabel.ID) error {
	for step := 0; step < len(deletionSteps); {
		deleted, err := s.deleteSome(ctx, run, step)
		switch {
		case relabel.CodeOf(err) == relabel.CodeNotFound:
			return nil
		case err != nil:
			return err
		case deleted == 0 || step == len(deletionSteps)-1:
			step++
		}
	}
	return s.BalanceWakeups(ctx)
}

// deleteSome runs one step of a deletion once and counts the units; CodeNotFound if no such
// run is marked. The lock serializes processes.
func (s *Store) deleteSome(ctx context.Context, run relabel.ID, step int) (deleted int64, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		err := tx.QueryRow(ctx, "SELECT FROM runs WHERE id = $1 AND deleting_at IS NOT NULL FOR UPDATE", run).Scan()
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, deletionSteps[step].statement, run, deletionSteps[step].units)
		deleted = tag.RowsAffected()
		return err
	})
	return deleted, err
}

// FinishDeletions finishes the deletions that have begun, for example on a server that was
// stopped. A failure does not prevent the others.
func (s *Store) FinishDeletions(ctx context.Context) error {
	runs, err := readColumn[relabel.ID](ctx, s.pool,
		"SELECT id FROM runs WHERE deleting_at IS NOT NULL ORDER BY deleting_at, id")
	if err != nil {
		return classify(err)
	}
	var failed []error
	for _, run := range runs {
		if err := s.FinishDeletion(ctx, run); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// How keepRun finds the run for $1.
const (
	itself       = "$1"
	ofIteration  = "(SELECT run_id FROM iterations WHERE id = $1)"
	ofTrajectory = "(SELECT run_id FROM trajectories WHERE id = $1)"
)

// keepRun locks a run against its deletion until the transaction ends, so that BeginDeletion
// sees the transaction's work. CodeConflict if the run is being deleted. A missing run is left
// to the caller.
func keepRun(ctx context.Context, tx pgx.Tx, run string, id relabel.ID) error {
	deleting, err := readValue[bool](ctx, tx,
		"SELECT deleting_at IS NOT NULL FROM runs WHERE id = "+run+" FOR KEY SHARE", id)
	if err == nil && deleting {
		return relabel.Errorf(relabel.CodeConflict, "the run is being deleted")
	}
	return ignoreNone(err)
}
