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
			finish_reason, prompt_tokens, completion_tokens, cached_tokens, model, error, error_body, queue_millis, base_url, hedged, cost_micros, clamped, prompt_estimate, prompt_by, prompt_not_counted)
			VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() - $7::interval, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)
			ON CONFLICT (id) DO NOTHING`,
			id, c.PolicyID, c.TrajectoryID, c.Attempt, c.T, c.Purpose, time.Duration(millis)*time.Millisecond, millis, c.Tries, c.Status,
			validUTF8(c.FinishReason), prompt, completion, cached, validUTF8(c.Model), validUTF8(c.Error), c.ErrorBody, max(c.QueueMillis, 0), c.BaseURL, c.Hedged, c.CostMicros, c.Clamped, tokens, by, validUTF8(notCounted))
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
		CASE WHEN prompt_by IS NOT NULL THEN json_build_object('tokens', prompt_estimate, 'by', prompt_by, 'not_counted', prompt_not_counted) END AS size FROM calls`

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
