package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// headSelect reads only what is stored inline: lengths of large values are known without
// reading them.
const headSelect = `SELECT tu.t, tu.executor, CASE WHEN tu.label_policy_id IS NULL THEN '' ELSE coalesce(l.status, 'received') END,
	coalesce(left(l.reason, 300), ''), tu.agrees, x.parse, x.finish_reason, coalesce(o.tools, '{}'), coalesce(o.failed, 0), o.exit_code,
	x.prompt_tokens, x.completion_tokens, x.cached_tokens, coalesce(octet_length(x.raw), 0), coalesce(octet_length(l.raw), 0), coalesce(o.bytes, 0),
	tu.started_at, tu.ended_at
	FROM turns tu` + bothActions + `
	LEFT JOIN LATERAL (SELECT array_agg(substring(tool FROM 1 FOR 60) ORDER BY k) AS tools, count(*) FILTER (WHERE failed) AS failed,
			(array_agg(exit_code ORDER BY k) FILTER (WHERE exit_code <> 0))[1] AS exit_code, sum(octet_length(content)) AS bytes
		FROM observations ob WHERE (ob.trajectory_id, ob.attempt, ob.t) = (tu.trajectory_id, tu.attempt, tu.t)) o ON true
	WHERE tu.trajectory_id = $1 AND tu.attempt = $2 ORDER BY tu.t`

// ListHeads returns the heads of all turns of an attempt, in order; none if there is no such
// attempt. It reads no large value: its time depends only on the number of turns.
func (s *Store) ListHeads(ctx context.Context, trajectory relabel.ID, attempt int) ([]relabel.TurnHead, error) {
	rows, _ := s.pool.Query(ctx, headSelect, trajectory, attempt)
	heads, err := pgx.CollectRows(rows, scanHead)
	return heads, classify(err)
}

func scanHead(row pgx.CollectableRow) (relabel.TurnHead, error) {
	var h relabel.TurnHead
	var tools [][]byte
	var prompt, completion, cached *int
	err := row.Scan(&h.T, &h.Executor, &h.Label, &h.LabelReason, &h.Agrees, &h.Parse, &h.FinishReason, &tools, &h.Failed, &h.ExitCode,
		&prompt, &completion, &cached, &h.ActionBytes, &h.LabelBytes, &h.OutputBytes, &h.StartedAt, &h.EndedAt)
	for _, tool := range tools {
		h.Tools = append(h.Tools, string(tool))
	}
	if prompt != nil {
		h.Usage = &relabel.Usage{PromptTokens: *prompt, CompletionTokens: *completion, CachedTokens: *cached}
	}
	return h, err
}
