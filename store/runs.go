package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const runSelect = `SELECT ru.id, ru.name, ru.recipe, ru.scaffold, ru.prompts, ru.taskset_id, ru.instances, ru.teacher_id, ru.beta, ru.rho, ru.labels,
	json_build_object('max_turns', ru.max_turns, 'max_context_tokens', ru.max_context_tokens, 'wall_clock_seconds', ru.wall_clock_seconds,
		'command_seconds', ru.command_seconds, 'verify_seconds', ru.verify_seconds,
		'environment_retries', ru.environment_retries) AS limits,
	ru.seed, ru.priority, coalesce(ru.quota, 0) AS quota, ru.paused,
	CASE WHEN ru.budget_tokens IS NOT NULL OR ru.budget_micros IS NOT NULL
		THEN json_build_object('tokens', coalesce(ru.budget_tokens, 0), 'cost', coalesce(ru.budget_micros, 0) / 1e6::float8) END AS budget,
	ru.webhook, ru.created_at, ru.deleting_at FROM runs ru`

const runInsert = `INSERT INTO runs (id, name, recipe, scaffold, prompts, taskset_id, instances, teacher_id, beta, rho, labels,
	max_turns, max_context_tokens, wall_clock_seconds, command_seconds, verify_seconds, environment_retries, seed,
	budget_tokens, budget_micros, webhook)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, nullif($19::bigint, 0), nullif($20::bigint, 0), $21)`

// CreateRun stores a run, which never changes afterwards. CodeConflict if the name is taken.
func (s *Store) CreateRun(ctx context.Context, r relabel.Run) error {
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
	r.ID = ensureID(r.ID)
	return s.retryTx(ctx, unlessCreated("runs", r.ID), func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, runInsert, r.ID, r.Name, r.Recipe, r.Scaffold, r.Prompts, r.TasksetID, instances, r.TeacherID, r.Beta, r.Rho, labels,
			r.Limits.MaxTurns, r.Limits.MaxContextTokens, r.Limits.WallClockSeconds, r.Limits.CommandSeconds, r.Limits.VerifySeconds, r.Limits.EnvironmentRetries, r.Seed,
			budget.Tokens, budget.CostMicros(), r.Webhook)
		return taken(err, "runs_name", "run", r.Name, "choose another name, or go on with that run by starting its next iteration")
	})
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
