package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// excerptSelect is turnSelect without token ids, log-probabilities and overlong messages.
const excerptSelect = `SELECT tu.t, tu.executor, tu.label_policy_id IS NOT NULL, tu.tree, tu.started_at, tu.ended_at, tu.endpoint_ms, tu.sandbox_ms, tu.database_ms, tu.label_chance,
	x.policy_id, x.status, x.reason, CASE WHEN octet_length(x.raw) <= $5 THEN x.raw END, x.finish_reason, x.refusal, x.parse, NULL, NULL,
	x.prompt_tokens, x.completion_tokens, x.cached_tokens, x.model, x.fingerprint, NULL, x.read_as, x.not_given, x.millis,
	l.policy_id, l.status, l.reason, CASE WHEN octet_length(l.raw) <= $5 THEN l.raw END, l.finish_reason, l.refusal, l.parse, NULL, NULL,
	l.prompt_tokens, l.completion_tokens, l.cached_tokens, l.model, l.fingerprint, NULL, l.read_as, l.not_given, l.millis,
	CASE WHEN octet_length(x.raw) > $5 THEN octet_length(x.raw) ELSE 0 END, CASE WHEN octet_length(l.raw) > $5 THEN octet_length(l.raw) ELSE 0 END
	FROM turns tu` + bothActions + `
	WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.t >= $3 AND tu.t < $4 ORDER BY tu.t`

// ListExcerpts returns an attempt's turns t with from ≤ t < to, in order, with at most the
// first head and the last tail bytes of each observation. It includes the answers of other
// teachers, but no token ids, log-probabilities or raw messages.
func (s *Store) ListExcerpts(ctx context.Context, trajectory relabel.ID, attempt, from, to, head, tail int) ([]relabel.TurnExcerpt, error) {
	var excerpts []relabel.TurnExcerpt
	err := s.read(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, excerptSelect, trajectory, attempt, from, to, relabel.MostActionBytes)
		var err error
		if excerpts, err = pgx.CollectRows(rows, scanExcerpt); err != nil || len(excerpts) == 0 {
			return err
		}
		if err := cutObservations(ctx, tx, trajectory, attempt, from, to, head, tail, excerpts); err != nil {
			return err
		}
		return addOtherAnswers(ctx, tx, trajectory, attempt, from, to, excerpts)
	})
	return excerpts, err
}

func scanExcerpt(row pgx.CollectableRow) (e relabel.TurnExcerpt, err error) {
	e.Turn, err = scanTurnAnd(row, &e.ActionBytes, &e.LabelBytes)
	return e, err
}

// cutObservations adds the first and last bytes of observations to turns.
func cutObservations(ctx context.Context, q querier, trajectory relabel.ID, attempt, from, to, head, tail int, turns []relabel.TurnExcerpt) error {
	rows, _ := q.Query(ctx, `SELECT t, call_id, tool, exit_code, failed, millis, octet_length(content),
			CASE WHEN octet_length(content) <= $5::int + $6::int THEN content ELSE substring(content FROM 1 FOR $5) END,
			CASE WHEN octet_length(content) <= $5::int + $6::int THEN ''::bytea ELSE substring(content FROM octet_length(content) - $6 + 1) END
		FROM observations WHERE trajectory_id = $1 AND attempt = $2 AND t >= $3 AND t < $4 ORDER BY t, k`, trajectory, attempt, from, to, head, tail)
	first := turns[0].T
	var t, length int
	var tool, begins, ends []byte
	var o relabel.Observation
	_, err := pgx.ForEachRow(rows, []any{&t, &o.CallID, &tool, &o.ExitCode, &o.Failed, &o.Millis, &length, &begins, &ends}, func() error {
		turn := &turns[t-first]
		o.Tool, o.Content = string(tool), string(begins)
		turn.Observations = append(turn.Observations, o)
		turn.Tails, turn.Lengths = append(turn.Tails, string(ends)), append(turn.Lengths, length)
		o.ExitCode = nil // its int now belongs to the turn
		return nil
	})
	return err
}

func addOtherAnswers(ctx context.Context, q querier, trajectory relabel.ID, attempt, from, to int, turns []relabel.TurnExcerpt) error {
	answers, err := readAnswers(ctx, q, trajectory, attempt, from, to, nil)
	for _, a := range answers {
		turn := &turns[a.t-turns[0].T]
		turn.Others = append(turn.Others, a.action)
	}
	return err
}

// EachAction calls take with the executed action of each turn of an attempt, in order; nil for
// a message longer than relabel.MostActionBytes. It reads only these messages, one at a time.
// An error of take ends it.
func (s *Store) EachAction(ctx context.Context, trajectory relabel.ID, attempt int, take func(t int, m *relabel.Message) error) error {
	rows, _ := s.pool.Query(ctx, `SELECT tu.t, CASE WHEN octet_length(x.raw) <= $3 THEN x.raw END FROM turns tu`+bothActions+`
		WHERE tu.trajectory_id = $1 AND tu.attempt = $2 ORDER BY tu.t`, trajectory, attempt, relabel.MostActionBytes)
	var t int
	var raw []byte
	_, err := pgx.ForEachRow(rows, []any{&t, &raw}, func() error {
		if raw == nil {
			return take(t, nil)
		}
		m := decoded(relabel.Action{Raw: raw})
		return take(t, &m)
	})
	return classify(err)
}

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
