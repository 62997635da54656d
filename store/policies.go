package store

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const policySelect = `SELECT po.id, po.name, po.version, po.base_url, po.replicas, po.model, po.server, po.tool_format, po.secret,
	json_build_object('temperature', po.temperature, 'top_p', po.top_p, 'max_tokens', po.max_tokens, 'top_k', po.top_k, 'min_p', po.min_p,
		'repetition_penalty', po.repetition_penalty, 'presence_penalty', po.presence_penalty, 'frequency_penalty', po.frequency_penalty,
		'stop', po.stop, 'chat_template_kwargs', po.chat_template_kwargs, 'logprobs', po.logprobs) AS sampling,
	json_build_object('concurrency', po.concurrency, 'requests_per_minute', po.requests_per_minute,
		'tokens_per_minute', po.tokens_per_minute, 'timeout_seconds', po.timeout_seconds, 'retries', po.retries,
		'patience_seconds', po.patience_seconds, 'hedge_after_seconds', po.hedge_after_seconds,
		'context_tokens', po.context_tokens) AS limits,
	po.price, po.cache_markers, po.tokenizer, coalesce(po.tokenizer_hash, '') AS tokenizer_hash, po.chat_template, po.template_text,
	po.trained_from, po.untrained, po.weights,
	(SELECT json_agg(json_build_object('export_id', pt.export_id, 'run', pt.run_name, 'epochs', pt.epochs, 'epochs_from', pt.epochs_from,
		'trajectories', pt.trajectories, 'states', pt.states, 'manifest_sha256', pt.manifest_sha256, 'deleted', pt.stored_export IS NULL) ORDER BY pt.position)
		FROM policy_training pt WHERE pt.policy_id = po.id) AS trained_on,
	po.created_at FROM policies po`

const policyInsert = `INSERT INTO policies (id, name, version, base_url, replicas, model, server, tool_format, secret,
	temperature, top_p, max_tokens, concurrency, requests_per_minute, tokens_per_minute, timeout_seconds, retries,
	patience_seconds, hedge_after_seconds, price, cache_markers, tokenizer, chat_template,
	tokenizer_hash, template_text, context_tokens,
	top_k, min_p, repetition_penalty, presence_penalty, frequency_penalty, stop, chat_template_kwargs, logprobs, trained_from, untrained, weights)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, nullif($24, ''), $25, $26,
	$27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37) RETURNING created_at`

// CreatePolicy stores a new version of the policy's name and returns it with version and time.
// If the newest version has the same definition, it returns that one. CodeInvalid if the parent or an
// export that it was trained on does not exist.
func (s *Store) CreatePolicy(ctx context.Context, p relabel.Policy) (relabel.Policy, error) {
	if p.ToolFormat == "" {
		p.ToolFormat = relabel.ToolsNative
	}
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// One at a time per name: versions have no gaps or duplicates.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('policy ' || current_schema() || ' ' || $1, 0))", p.Name); err != nil {
			return err
		}
		newest, err := readOne[relabel.Policy](ctx, tx,
			policySelect+" WHERE po.name = $1 ORDER BY po.version DESC LIMIT 1", p.Name)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
		case err != nil:
			return err
		case sameDefinition(newest, p):
			p = newest
			return nil
		}
		p.ID, p.Version = ensureID(p.ID), newest.Version+1
		sampling := p.Sampling
		err = tx.QueryRow(ctx, policyInsert, p.ID, p.Name, p.Version, p.BaseURL, p.Replicas, p.Model, p.Server, p.ToolFormat, p.Secret,
			sampling.Temperature, sampling.TopP, sampling.MaxTokens,
			p.Limits.Concurrency, p.Limits.RequestsPerMinute, p.Limits.TokensPerMinute, p.Limits.TimeoutSeconds, p.Limits.Retries,
			p.Limits.PatienceSeconds, p.Limits.HedgeAfterSeconds, p.Price, p.CacheMarkers,
			p.Tokenizer, p.ChatTemplate, p.TokenizerHash, p.TemplateText, p.Limits.ContextTokens,
			sampling.TopK, sampling.MinP, sampling.RepetitionPenalty, sampling.PresencePenalty, sampling.FrequencyPenalty,
			sampling.Stop, sampling.ChatTemplateKwargs, sampling.Logprobs, p.TrainedFrom, p.Untrained, p.Weights).Scan(&p.CreatedAt)
		if err != nil {
			return err
		}
		return insertTraining(ctx, tx, p)
	})
	if err != nil {
		return relabel.Policy{}, err
	}
	return p, nil
}

func sameDefinition(a, b relabel.Policy) bool {
	a.ID, a.Version, a.CreatedAt = b.ID, b.Version, b.CreatedAt
	if len(a.Replicas)+len(b.Replicas) == 0 {
		a.Replicas, b.Replicas = nil, nil // none, however it is said
	}
	a.TrainedOn, b.TrainedOn = asTrained(a.TrainedOn), asTrained(b.TrainedOn)
	return reflect.DeepEqual(a, b)
}

// FindPolicy returns a policy version; CodeNotFound if there is none.
func (s *Store) FindPolicy(ctx context.Context, id relabel.ID) (relabel.Policy, error) {
	return find[relabel.Policy](ctx, s, "policy", id, policySelect+" WHERE po.id = $1", id)
}

// FindPolicyByName returns the newest version, or the version of name@version. CodeNotFound if
// there is none, CodeInvalid for an invalid version.
func (s *Store) FindPolicyByName(ctx context.Context, name string) (relabel.Policy, error) {
	base, suffix, asked := strings.Cut(name, "@")
	version, err := strconv.ParseInt(suffix, 10, 32)
	if asked && (err != nil || version < 1) {
		return relabel.Policy{}, relabel.Errorf(relabel.CodeInvalid, "%q is not a version of a policy", suffix).On("policy")
	}
	return find[relabel.Policy](ctx, s, "policy", name, policySelect+` WHERE po.name = $1 AND ($2 = 0 OR po.version = $2)
		ORDER BY po.version DESC LIMIT 1`, validUTF8(base), int32(version))
}

// ListPolicies lists policy versions, newest first. CodeInvalid for an invalid page.
func (s *Store) ListPolicies(ctx context.Context, p relabel.Page) ([]relabel.Policy, string, error) {
	l := list[relabel.Policy]{query: policySelect, key: "po",
		keyOf: func(p relabel.Policy) cursor { return cursor{p.CreatedAt, p.ID} }}
	return l.page(ctx, s, p)
}

// mostVersions bounds a list of the versions of one policy.
const mostVersions = 200

// ListVersions lists at most 200 versions of a policy name, newest first; none if there is no
// such name.
func (s *Store) ListVersions(ctx context.Context, name string) ([]relabel.Policy, error) {
	return listAll[relabel.Policy](ctx, s,
		policySelect+" WHERE po.name = $1 ORDER BY po.version DESC LIMIT $2", validUTF8(name), mostVersions)
}
