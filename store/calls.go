package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// RecordCall stores a call of a policy. It keeps the call's length and computes its start from
// this server's clock. Storing the same id twice is not an error. It adds the usage to the
// run's spending, and pauses a run that reaches its budget.
func (s *Store) RecordCall(ctx context.Context, c relabel.Call) error {
	prompt, completion, cached := usageValues(c.Usage)
	id, millis := ensureID(c.ID), max(c.Millis, 0)
	var tokens *int
	var by *string
	var notCounted string
	if c.Size != nil {
		tokens, by, notCounted = &c.Size.Tokens, &c.Size.By, c.Size.NotCounted
	}
	return s.retryBatch(ctx, func(b *pgx.Batch) {
		b.Queue(`INSERT INTO calls (id, policy_id, trajectory_id, attempt, t, purpose, started_at, millis, tries, status,
			finish_reason, prompt_tokens, completion_tokens, cached_tokens, model, error, error_body, queue_millis, base_url, hedged, cost_micros, clamped, prompt_estimate, prompt_by, prompt_not_counted, sampling)
			VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() - $7::interval, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)
			ON CONFLICT (id) DO NOTHING`,
			id, c.PolicyID, c.TrajectoryID, c.Attempt, c.T, c.Purpose, time.Duration(millis)*time.Millisecond, millis, c.Tries, c.Status,
			validUTF8(c.FinishReason), prompt, completion, cached, validUTF8(c.Model), validUTF8(c.Error), c.ErrorBody, max(c.QueueMillis, 0), c.BaseURL, c.Hedged, c.CostMicros, c.Clamped, tokens, by, validUTF8(notCounted), c.Sampling)
		if c.TrajectoryID != nil {
			b.Queue(pauseSpent, *c.TrajectoryID)
		}
	})
}

// PurgeCalls deletes calls older than keep, oldest first, policy by policy. Their usage stays
// in the sums of spending, their labels in the trajectories.
func (s *Store) PurgeCalls(ctx context.Context, keep time.Duration) (purged int64, err error) {
	policies, err := readColumn[relabel.ID](ctx, s.pool, "SELECT id FROM policies")
	if err != nil {
		return 0, classify(err)
	}
	for _, policy := range policies {
		n, err := s.purgeInBatches(ctx, `DELETE FROM calls WHERE id IN (SELECT id FROM calls
			WHERE policy_id = $2 AND started_at < clock_timestamp() - $3::interval ORDER BY started_at LIMIT $1)`, policy, keep)
		purged += n
		if err != nil {
			return purged, err
		}
	}
	return purged, nil
}

const callSelect = `SELECT id, policy_id, trajectory_id, attempt, t, purpose, started_at, millis, tries, status, finish_reason,
		CASE WHEN prompt_tokens IS NOT NULL THEN json_build_object('prompt_tokens', prompt_tokens,
			'completion_tokens', completion_tokens, 'cached_tokens', cached_tokens) END AS usage,
		model, error, error_body, queue_millis, base_url, hedged, cost_micros, clamped,
		CASE WHEN prompt_by IS NOT NULL THEN json_build_object('tokens', prompt_estimate, 'by', prompt_by, 'not_counted', prompt_not_counted) END AS size, sampling FROM calls`

// ListCalls lists a trajectory's calls by start.
func (s *Store) ListCalls(ctx context.Context, trajectory relabel.ID) ([]relabel.Call, error) {
	calls, err := readAll[relabel.Call](ctx, s.pool,
		callSelect+" WHERE trajectory_id = $1 ORDER BY started_at, id", trajectory)
	if err == nil && len(calls) == 0 {
		_, err = s.FindTrajectory(ctx, trajectory)
	}
	return calls, classify(err)
}

// ListTurnCalls lists the calls of all attempts for turns t of a trajectory with from ≤ t < to,
// by start.
func (s *Store) ListTurnCalls(ctx context.Context, trajectory relabel.ID, from, to int) ([]relabel.Call, error) {
	return listAll[relabel.Call](ctx, s,
		callSelect+" WHERE trajectory_id = $1 AND t >= $2 AND t < $3 ORDER BY started_at, id", trajectory, from, to)
}

// mostModels bounds the stored models of one address: some servers make up a fingerprint per
// answer.
const mostModels = 100

// RecordModel stores that a model answered for a policy. changed reports whether it is new and
// another model answered at this address before.
func (s *Store) RecordModel(ctx context.Context, m relabel.ModelSeen) (changed bool, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		var others int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM models_seen WHERE policy_id = $1 AND base_url = $2 AND (model, fingerprint) <> ($3, $4)`,
			m.PolicyID, m.BaseURL, validUTF8(m.Model), validUTF8(m.Fingerprint)).Scan(&others); err != nil || others >= mostModels {
			return err
		}
		tag, err := tx.Exec(ctx, `INSERT INTO models_seen (policy_id, base_url, model, fingerprint) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			m.PolicyID, m.BaseURL, validUTF8(m.Model), validUTF8(m.Fingerprint))
		changed = others > 0 && (again || tag.RowsAffected() > 0)
		return err
	})
	return changed, err
}

// ListModels lists the models that answered for a policy, by address and then by first use.
func (s *Store) ListModels(ctx context.Context, policy relabel.ID) ([]relabel.ModelSeen, error) {
	return listAll[relabel.ModelSeen](ctx, s, `SELECT policy_id, base_url, model, fingerprint, first_at FROM models_seen
		WHERE policy_id = $1 ORDER BY base_url, first_at, model, fingerprint`, policy)
}

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
	text, err := readValue[*string](ctx, s.pool, "SELECT overdrawn.text FROM runs ru,"+overBudget+"WHERE ru.id = $1", run)
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
