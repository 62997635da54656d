package store

import (
	"context"

	"relabel"
)

// FindSpent returns the usage of a run's calls.
func (s *Store) FindSpent(ctx context.Context, run relabel.ID) (relabel.Spent, error) {
	var sum relabel.Spent
	err := s.pool.QueryRow(ctx, `SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(prompt_tokens), 0)::bigint, coalesce(sum(cached_tokens), 0)::bigint,
		coalesce(sum(completion_tokens), 0)::bigint, (coalesce(sum(cost_micros), 0) / 1e6)::float8 FROM spend WHERE run_id = $1`, run).
		Scan(&sum.Calls, &sum.PromptTokens, &sum.CachedTokens, &sum.CompletionTokens, &sum.Cost)
	sum.Tokens = sum.PromptTokens + sum.CompletionTokens
	return sum, classify(err)
}

// overBudget selects runs ru with a spent budget, and a text about it as overdrawn.
const overBudget = ` LATERAL (SELECT coalesce(sum(sp.prompt_tokens + sp.completion_tokens), 0)::bigint AS tokens,
		coalesce(sum(sp.cost_micros), 0)::bigint AS micros FROM spend sp WHERE sp.run_id = ru.id) spent,
	LATERAL (SELECT CASE
		WHEN spent.tokens >= ru.budget_tokens THEN format('%s tokens are spent of the budget of %s', spent.tokens, ru.budget_tokens)
		WHEN spent.micros >= ru.budget_micros THEN format('%s is spent of the budget of %s', round(spent.micros / 1e6, 2), round(ru.budget_micros / 1e6, 2))
		END AS text) overdrawn `

// pauseSpent pauses the run of trajectory $1 if its budget is spent. It belongs to the
// transaction that adds the usage. Calls that end at the same moment do not see each other's
// usage; the next call then pauses the run.
const pauseSpent = `UPDATE runs SET paused = json_build_object('reason', 'budget', 'text', over.text || '; raise it and resume the run',
		'since', to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
	FROM (SELECT ru.id, overdrawn.text FROM trajectories tr JOIN runs ru ON ru.id = tr.run_id,` + overBudget + `
		WHERE tr.id = $1 AND ru.paused IS NULL AND (ru.budget_tokens IS NOT NULL OR ru.budget_micros IS NOT NULL) AND overdrawn.text IS NOT NULL) over
	WHERE runs.id = over.id AND runs.paused IS NULL`

// budgetLeft returns CodeConflict if the run's budget is spent.
func (s *Store) budgetLeft(ctx context.Context, run relabel.ID) error {
	var text *string
	err := s.pool.QueryRow(ctx, "SELECT overdrawn.text FROM runs ru,"+overBudget+"WHERE ru.id = $1", run).Scan(&text)
	switch {
	case err != nil:
		return notFound("run", run, err)
	case text != nil:
		return relabel.Errorf(relabel.CodeConflict, "%s; raise it first", *text)
	}
	return nil
}

const spentSums = `sum(sp.calls)::bigint AS calls, sum(sp.prompt_tokens + sp.completion_tokens)::bigint AS tokens, sum(sp.prompt_tokens)::bigint AS prompt_tokens,
	sum(sp.cached_tokens)::bigint AS cached_tokens, sum(sp.completion_tokens)::bigint AS completion_tokens, (sum(sp.cost_micros) / 1e6)::float8 AS cost`

// ListSpending returns the usage of a run's calls by iteration, in the order of creation, and
// policy.
func (s *Store) ListSpending(ctx context.Context, run relabel.ID) ([]relabel.Spending, error) {
	return listAll[relabel.Spending](ctx, s,
		`SELECT sp.iteration_id, sp.policy_id, `+spentSums+` FROM spend sp JOIN iterations it ON it.id = sp.iteration_id
		WHERE sp.run_id = $1 GROUP BY it.created_at, sp.iteration_id, sp.policy_id ORDER BY it.created_at, sp.iteration_id, sp.policy_id`, run)
}

// ListPolicySpending returns the usage of a policy's calls by run, newest run first.
// CodeInvalid for an invalid page.
func (s *Store) ListPolicySpending(ctx context.Context, policy relabel.ID, p relabel.Page) ([]relabel.RunSpending, string, error) {
	l := list[relabel.RunSpending]{query: `SELECT ru.id AS run_id, ru.name AS run_name, ru.created_at, used.* FROM runs ru
			JOIN LATERAL (SELECT ` + spentSums + ` FROM spend sp WHERE sp.run_id = ru.id AND sp.policy_id = $1) used ON used.calls > 0`,
		key: "ru", queryBuilder: queryBuilder{args: []any{policy}},
		keyOf: func(r relabel.RunSpending) cursor { return cursor{r.CreatedAt, r.RunID} }}
	return l.page(ctx, s, p)
}
