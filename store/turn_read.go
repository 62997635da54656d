package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// bothActions joins turns tu with the executed action x and the label l, if that is another
// action. It looks each up by its whole key: without statistics, a planner would scan the
// attempt's actions for every turn.
const bothActions = `
	JOIN LATERAL (SELECT * FROM actions a WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample)
		= (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample) LIMIT 1) x ON true
	LEFT JOIN LATERAL (SELECT * FROM actions a WHERE tu.executor = 'student' AND (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample)
		= (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample) LIMIT 1) l ON true`

// labelColumns are the columns of an actionRow from actions l.
const labelColumns = `l.policy_id, l.status, l.reason, l.raw, l.finish_reason, l.refusal, l.parse, l.token_ids, l.logprobs,
	l.prompt_tokens, l.completion_tokens, l.cached_tokens, l.model, l.fingerprint, l.said, l.read_as, l.not_given, l.millis`

// turnSelect reads turns with both actions. If the teacher executed, the label is the action
// and is not sent twice. It omits prompt ids, which are as long as all states together.
const turnSelect = `SELECT tu.t, tu.executor, tu.label_policy_id IS NOT NULL, tu.tree, tu.started_at, tu.ended_at, tu.endpoint_ms, tu.sandbox_ms, tu.database_ms, tu.label_chance,
	x.policy_id, x.status, x.reason, x.raw, x.finish_reason, x.refusal, x.parse, x.token_ids, x.logprobs,
	x.prompt_tokens, x.completion_tokens, x.cached_tokens, x.model, x.fingerprint, x.said, x.read_as, x.not_given, x.millis,
	` + labelColumns + `
	FROM turns tu` + bothActions + `
	WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.t >= $3 AND tu.t < $4 ORDER BY tu.t`

// ListTurns returns the trajectory's turns t with from ≤ t < from+limit, in order, with
// executed action, label and observations, but without prompt ids (see FindState). It ends
// before the turn that exceeds relabel.MostPageBytes, but returns at least one. CodeNotFound if
// there is no such trajectory.
func (s *Store) ListTurns(ctx context.Context, trajectory relabel.ID, from, limit int) ([]relabel.Turn, error) {
	return s.listTurns(ctx, trajectory, from, limit, false)
}

// ListPromptedTurns returns turns as ListTurns does, with the prompt ids of actions and labels. They are not
// part of the size that ends a page.
func (s *Store) ListPromptedTurns(ctx context.Context, trajectory relabel.ID, from, limit int) ([]relabel.Turn, error) {
	return s.listTurns(ctx, trajectory, from, limit, true)
}

func (s *Store) listTurns(ctx context.Context, trajectory relabel.ID, from, limit int, prompted bool) ([]relabel.Turn, error) {
	if limit < 1 {
		return nil, relabel.Errorf(relabel.CodeInvalid, "read at least one turn").On("limit")
	}
	const farthest = 1 << 30 // keeps from+limit an integer of Postgres's
	from, limit = min(max(from, 0), farthest), min(limit, farthest)
	var turns []relabel.Turn
	err := s.read(ctx, func(tx pgx.Tx) error {
		trail, err := readValue[int](ctx, tx, "SELECT trail FROM trajectories WHERE id = $1", trajectory)
		if err != nil {
			return notFound("trajectory", trajectory, err)
		}
		to, err := turnsWithin(ctx, tx, trajectory, trail, from, from+limit)
		if err != nil {
			return err
		}
		if turns, err = readTurns(ctx, tx, trajectory, trail, from, to); err != nil {
			return err
		}
		if prompted {
			if err := addPrompts(ctx, tx, trajectory, trail, turns); err != nil {
				return err
			}
		}
		return addOthers(ctx, tx, trajectory, trail, from, turns)
	})
	return turns, err
}

// turnsWithin returns the end of a page of turns t with from ≤ t < to.
func turnsWithin(ctx context.Context, q pgx.Tx, trajectory relabel.ID, attempt, from, to int) (end int, err error) {
	return readValue[int](ctx, q,
		`SELECT coalesce(min(t), $4) FROM (SELECT t, row_number() OVER (ORDER BY t) AS row, sum(bytes) OVER (ORDER BY t) AS total FROM (
		SELECT t, sum(bytes) AS bytes FROM (
			SELECT t, octet_length(content)::bigint AS bytes FROM observations WHERE trajectory_id = $1 AND attempt = $2 AND t >= $3 AND t < $4
			UNION ALL
			SELECT t, coalesce(octet_length(raw), 0)::bigint + coalesce(octet_length(said), 0) + coalesce(pg_column_size(token_ids), 0) + coalesce(pg_column_size(logprobs), 0)
			FROM actions WHERE trajectory_id = $1 AND attempt = $2 AND t >= $3 AND t < $4) parts GROUP BY t) turns) sums
		WHERE total > $5 AND row > 1`, trajectory, attempt, from, to, relabel.MostPageBytes)
}

// ListAttemptTurns returns an attempt's turns t with from ≤ t < to as ListTurns does; none
// if there is no such attempt.
func (s *Store) ListAttemptTurns(ctx context.Context, trajectory relabel.ID, attempt, from, to int) ([]relabel.Turn, error) {
	var turns []relabel.Turn
	err := s.read(ctx, func(tx pgx.Tx) error {
		var err error
		if turns, err = readTurns(ctx, tx, trajectory, attempt, from, to); err != nil {
			return err
		}
		return addOthers(ctx, tx, trajectory, attempt, from, turns)
	})
	return turns, err
}

// FindState returns turns 1 to t of an attempt: the contents of the state at t, and the answers
// there. Turn t has its actions' prompt ids. CodeNotFound if the attempt has no turn t.
func (s *Store) FindState(ctx context.Context, trajectory relabel.ID, attempt, t int) ([]relabel.Turn, error) {
	var turns []relabel.Turn
	err := s.read(ctx, func(tx pgx.Tx) error {
		var err error
		if turns, err = readTurns(ctx, tx, trajectory, attempt, 1, t+1); err != nil {
			return err
		}
		if t < 1 || len(turns) < t {
			return relabel.Errorf(relabel.CodeNotFound, "there is no turn %d", t)
		}
		if err := addOthers(ctx, tx, trajectory, attempt, t, turns[t-1:]); err != nil {
			return err
		}
		return addPrompts(ctx, tx, trajectory, attempt, turns[t-1:t])
	})
	return turns, err
}

// addPrompts adds the prompt ids of the turns' actions and labels. It reads the prompts of each policy once.
func addPrompts(ctx context.Context, q querier, trajectory relabel.ID, attempt int, turns []relabel.Turn) error {
	read := map[relabel.ID]prompts{}
	add := func(a *relabel.Action, at place) (err error) {
		if _, done := read[a.PolicyID]; !done {
			if read[a.PolicyID], err = readPrompts(ctx, q, trajectory, attempt, a.PolicyID); err != nil {
				return err
			}
		}
		a.PromptTokenIDs = read[a.PolicyID].rebuild(at)
		return nil
	}
	for i := range turns {
		turn := &turns[i]
		if err := add(&turn.Action, place{turn.T, 0}); err != nil {
			return err
		}
		if turn.Label == nil {
			continue
		}
		sample := 0
		if turn.Executor == relabel.Student && turn.Label.PolicyID == turn.Action.PolicyID {
			sample = 1
		}
		if err := add(turn.Label, place{turn.T, sample}); err != nil {
			return err
		}
	}
	return nil
}

// readTurns reads an attempt's turns t with from ≤ t < to.
func readTurns(ctx context.Context, q querier, trajectory relabel.ID, attempt, from, to int) ([]relabel.Turn, error) {
	rows, _ := q.Query(ctx, turnSelect, trajectory, attempt, from, to)
	turns, err := pgx.CollectRows(rows, scanTurn)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	at := make(map[int]*relabel.Turn, len(turns))
	for i := range turns {
		at[turns[i].T] = &turns[i]
	}
	rows, _ = q.Query(ctx, `SELECT t, call_id, tool, content, exit_code, failed, millis FROM observations
		WHERE trajectory_id = $1 AND attempt = $2 AND t >= $3 AND t < $4 ORDER BY t, k`, trajectory, attempt, from, to)
	var t int
	var tool, content []byte
	var o relabel.Observation
	_, err = pgx.ForEachRow(rows, []any{&t, &o.CallID, &tool, &content, &o.ExitCode, &o.Failed, &o.Millis}, func() error {
		if turn := at[t]; turn != nil {
			o.Tool, o.Content = string(tool), string(content)
			turn.Observations = append(turn.Observations, o)
			o.ExitCode = nil // its int now belongs to the turn
		}
		return nil
	})
	return turns, err
}

// actionRow reads an action that may be null.
type actionRow struct {
	policy                                      *relabel.ID
	status, reason, finish, parse, model, print *string
	raw, said, refusal                          []byte
	readAs                                      []relabel.CallForm
	notGiven                                    []string
	tokens                                      []int32
	logprobs                                    []float32
	prompt, completion, cached                  *int
	millis                                      *int64
}

func (r *actionRow) fields() []any {
	return []any{&r.policy, &r.status, &r.reason, &r.raw, &r.finish, &r.refusal, &r.parse, &r.tokens, &r.logprobs,
		&r.prompt, &r.completion, &r.cached, &r.model, &r.print, &r.said, &r.readAs, &r.notGiven, &r.millis}
}

// action returns nil if there is no row.
func (r *actionRow) action() *relabel.Action {
	if r.policy == nil {
		return nil
	}
	a := &relabel.Action{PolicyID: *r.policy, Status: relabel.ActionStatus(*r.status), Raw: r.raw, Said: r.said,
		ReadAs: r.readAs, NotGiven: r.notGiven, FinishReason: *r.finish,
		Refusal: string(r.refusal), Parse: relabel.ParseOutcome(*r.parse), TokenIDs: r.tokens,
		Logprobs: r.logprobs, Model: *r.model, Fingerprint: *r.print, Millis: *r.millis}
	if r.reason != nil {
		a.Reason = *r.reason
	}
	if r.prompt != nil {
		a.Usage = &relabel.Usage{PromptTokens: *r.prompt, CompletionTokens: *r.completion, CachedTokens: *r.cached}
	}
	if a.Status == relabel.Received {
		a.Message = decoded(*a)
	}
	return a
}

func scanTurn(row pgx.CollectableRow) (relabel.Turn, error) { return scanTurnAnd(row) }

// scanTurnAnd reads a turn, and the further columns of its row into more.
func scanTurnAnd(row pgx.CollectableRow, more ...any) (relabel.Turn, error) {
	var turn relabel.Turn
	var labelled bool
	var executed, label actionRow
	fields := append([]any{&turn.T, &turn.Executor, &labelled, &turn.Tree, &turn.StartedAt, &turn.EndedAt,
		&turn.Time.Endpoint, &turn.Time.Sandbox, &turn.Time.Database, &turn.LabelChance}, executed.fields()...)
	if err := row.Scan(slices.Concat(fields, label.fields(), more)...); err != nil {
		return turn, err
	}
	turn.Action, turn.Label = *executed.action(), label.action()
	if labelled && turn.Executor == relabel.Teacher {
		same := turn.Action // a copy: turns are values and move
		turn.Label = &same
	}
	return turn, nil
}

// read runs fn on one snapshot of the database.
func (s *Store) read(ctx context.Context, fn func(tx pgx.Tx) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return classify(pgx.BeginTxFunc(ctx, s.pool, options, fn))
}

// answerSelect reads the answers of relabelings for the states of an attempt.
const answerSelect = "SELECT l.t, " + labelColumns + `
	FROM actions l WHERE l.trajectory_id = $1 AND l.attempt = $2 AND l.t >= $3 AND l.t < $4 AND l.sample = $5
	AND ($6::uuid IS NULL OR l.policy_id = $6) ORDER BY l.t, l.policy_id`

// answer is a policy's answer for the state of turn t.
type answer struct {
	t      int
	action relabel.Action
}

// readAnswers reads the answers of relabelings at turns t with from ≤ t < to, of one
// policy or (nil) of all.
func readAnswers(ctx context.Context, q querier, trajectory relabel.ID, attempt, from, to int, policy *relabel.ID) ([]answer, error) {
	rows, _ := q.Query(ctx, answerSelect, trajectory, attempt, from, to, relabelSample, policy)
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (a answer, err error) {
		var r actionRow
		if err := row.Scan(append([]any{&a.t}, r.fields()...)...); err != nil {
			return a, err
		}
		a.action = *r.action()
		return a, nil
	})
}

// addOthers adds the answers of other teachers to turns, the first of which is from.
func addOthers(ctx context.Context, q querier, trajectory relabel.ID, attempt, from int, turns []relabel.Turn) error {
	if len(turns) == 0 {
		return nil
	}
	first := turns[0].T
	answers, err := readAnswers(ctx, q, trajectory, attempt, max(from, first), first+len(turns), nil)
	for _, a := range answers {
		turn := &turns[a.t-first]
		turn.Others = append(turn.Others, a.action)
	}
	return err
}

// labelWith replaces the labels of turns by one policy's answers: from a relabeling, or
// executed by the policy itself. A state with neither has no label.
func labelWith(ctx context.Context, q querier, trajectory relabel.ID, attempt int, policy relabel.ID, turns []relabel.Turn) error {
	answers, err := readAnswers(ctx, q, trajectory, attempt, 1, allTurns, &policy)
	if err != nil {
		return err
	}
	at := make(map[int]relabel.Action, len(answers))
	for _, a := range answers {
		at[a.t] = a.action
	}
	for i := range turns {
		label, there := at[turns[i].T]
		switch {
		case there:
		case turns[i].Label != nil && turns[i].Label.Status == relabel.NotSelected:
			label = relabel.Action{PolicyID: policy, Status: relabel.NotSelected}
		case turns[i].Action.PolicyID == policy:
			label = turns[i].Action
		case turns[i].Label != nil && turns[i].Label.PolicyID == policy && turns[i].Label.Status == relabel.Received:
			label = *turns[i].Label
		default:
			label = relabel.Action{PolicyID: policy, Status: relabel.Missing, Reason: "the policy was not asked about this state, and did not act in it"}
		}
		turns[i].Label = &label
	}
	return nil
}
