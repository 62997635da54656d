package store

import (
	"bytes"
	"context"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/chat"
)

// commitInsert inserts turn $4 after it has checked the fence, the previous turn and the drawn
// executor, one row per turn, in order. The foreign keys between a turn and its two actions are
// checked at commit.
const commitInsert = `WITH room AS (UPDATE trajectories SET turns = $4, teacher_turns = teacher_turns + $5,
		labels_received = labels_received + $6, labels_pending = labels_pending + $7, labels_missing = labels_missing + $8,
		compared = compared + $9, agreed = agreed + $10, ribbon = ribbon || $22, tokens = tokens + $23,
		labels_not_selected = labels_not_selected + $26, tool_calls = tool_calls + $24, tool_failures = tool_failures + $25,
		student_tool_calls = student_tool_calls + $24 * (1 - $5), student_tool_failures = student_tool_failures + $25 * (1 - $5)
		WHERE` + fenced + `AND state = 'running' AND trail = attempt AND turns = $4 - 1 AND substr(executors, $4, 1) = $11 RETURNING kind)
	INSERT INTO turns (trajectory_id, attempt, t, kind, executor, executor_policy_id, executor_sample,
		label_policy_id, label_sample, agrees, tree, started_at, ended_at, endpoint_ms, sandbox_ms, database_ms, label_chance)
	SELECT $1, $2, $4, kind, $12, $13, 0, $14, $15, $16, $17, clock_timestamp() - $18::interval, clock_timestamp(), $19, $20, $21, $27 FROM room`

type committing struct {
	fence       relabel.Fence
	turn        relabel.Turn
	label       *relabel.Action // nil in an evaluation; the action itself if the teacher executed
	labelSample int             // 1 where one policy version is both teacher and student
	agrees      *bool           // nil if nothing is compared
}

// CommitTurn stores a turn with its executed action, observations and label (received, pending
// or missing) in one transaction. Committing the same turn twice is not an error; another turn
// in its place, or a turn out of order, is a CodeConflict. It keeps the turn's length, and
// computes its end from this server's clock.
//
// Turns are on every trajectory's critical path, so the statements are sent in one round trip.
// If the turn does not fit, its rows break a key, and the statements are repeated one by one.
func (s *Store) CommitTurn(ctx context.Context, f relabel.Fence, turn relabel.Turn) error {
	c, err := prepare(f, turn)
	if err != nil {
		return err
	}
	if !c.hasPrompts() { // how those are stored is to be read first
		err := s.retryBatch(ctx, func(b *pgx.Batch) {
			b.Queue(commitInsert, c.values()...)
			c.queueRows(b, promptRow{}, promptRow{})
		})
		if !keyBroken(err) {
			return err
		}
	}
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, commitInsert, c.values()...)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return c.settled(ctx, tx)
		}
		action, label, err := c.prompts(ctx, tx)
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		c.queueRows(b, action, label)
		return tx.SendBatch(ctx, b).Close()
	})
}

func prepare(f relabel.Fence, turn relabel.Turn) (*committing, error) {
	c := &committing{fence: f, turn: turn, label: turn.Label}
	switch {
	case turn.T < 1:
		return nil, relabel.Errorf(relabel.CodeInvalid, "turns count from 1").On("t")
	case turn.Executor != relabel.Teacher && turn.Executor != relabel.Student:
		return nil, relabel.Errorf(relabel.CodeInvalid, "%q cannot execute a turn", turn.Executor).On("executor")
	case turn.Action.Status != relabel.Received:
		return nil, relabel.Errorf(relabel.CodeInvalid, "an executed action must be received, not %q", turn.Action.Status).On("action")
	}
	if turn.Executor == relabel.Teacher {
		c.label = &c.turn.Action
		return c, nil
	}
	if c.label != nil {
		if c.label.PolicyID == turn.Action.PolicyID {
			c.labelSample = 1
		}
		c.agrees = agreement(turn.Action, *c.label)
	}
	return c, nil
}

// agreement compares a student's action with its label; nil if that is not received.
func agreement(action, label relabel.Action) *bool {
	if label.Status != relabel.Received {
		return nil
	}
	agrees := chat.Agree(decoded(action), decoded(label))
	return &agrees
}

// decoded decodes the raw message; an undecodable one becomes its content.
func decoded(a relabel.Action) relabel.Message {
	m, err := chat.DecodeMessage(a.Raw)
	if err != nil {
		return relabel.Message{Content: string(a.Raw)}
	}
	return m
}

func (c *committing) values() []any {
	t, mark, status := c.turn, "s", relabel.ActionStatus("")
	if t.Executor == relabel.Teacher {
		mark = "T"
	}
	var labelPolicy *relabel.ID
	var labelSample *int
	if c.label != nil {
		status, labelPolicy, labelSample = c.label.Status, &c.label.PolicyID, &c.labelSample
	}
	return []any{c.fence.TrajectoryID, c.fence.Attempt, c.fence.Owner, t.T, one(mark == "T"),
		one(status == relabel.Received), one(status == relabel.Pending), one(status == relabel.Missing),
		one(c.agrees != nil), one(c.agrees != nil && *c.agrees), mark,
		t.Executor, t.Action.PolicyID, labelPolicy, labelSample, c.agrees, validUTF8(t.Tree),
		max(t.EndedAt.Sub(t.StartedAt), time.Duration(0)), max(t.Time.Endpoint, 0), max(t.Time.Sandbox, 0), max(t.Time.Database, 0),
		c.mark(), c.tokens(), calls(t.Observations, false), calls(t.Observations, true), one(status == relabel.NotSelected), t.LabelChance}
}

// mark is the turn's letter in the trajectory's ribbon.
func (c *committing) mark() string {
	switch {
	case c.turn.Executor == relabel.Teacher:
		return "T"
	case c.agrees == nil:
		return "s"
	case *c.agrees:
		return "a"
	}
	return "d"
}

// tokens are those of the executed action and of the label, if that is another action.
func (c *committing) tokens() (n int) {
	n = c.turn.Action.Usage.Tokens()
	if c.label != nil && c.turn.Executor == relabel.Student {
		n += c.label.Usage.Tokens()
	}
	return n
}

// calls counts the observations of tool calls, or only the failed ones.
func calls(observations []relabel.Observation, failed bool) (n int) {
	for _, o := range observations {
		if o.Tool != "" && (o.Failed || !failed) {
			n++
		}
	}
	return n
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (c *committing) prompts(ctx context.Context, tx pgx.Tx) (action, label promptRow, err error) {
	action, err = fitPrompt(ctx, tx, c.fence, place{c.turn.T, 0}, c.turn.Action)
	if err == nil && c.label != nil && c.turn.Executor == relabel.Student {
		label, err = fitPrompt(ctx, tx, c.fence, place{c.turn.T, c.labelSample}, *c.label)
	}
	return action, label, err
}

func (c *committing) hasPrompts() bool {
	return c.turn.Action.PromptTokenIDs != nil || c.label != nil && c.label.PromptTokenIDs != nil
}

// queueRows inserts the rows that refer to the turn; without it they break a key.
func (c *committing) queueRows(b *pgx.Batch, action, label promptRow) {
	f, t := c.fence, c.turn
	queueAction(b, f, place{t.T, 0}, t.Action, action)
	if c.label != nil && t.Executor == relabel.Student {
		queueAction(b, f, place{t.T, c.labelSample}, *c.label, label)
	}
	for k, o := range t.Observations {
		b.Queue(`INSERT INTO observations (trajectory_id, attempt, t, k, call_id, tool, content, exit_code, failed, millis)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`, f.TrajectoryID, f.Attempt, t.T, k,
			o.CallID, []byte(o.Tool), []byte(o.Content), o.ExitCode, o.Failed, o.Millis)
	}
}

func queueAction(b *pgx.Batch, f relabel.Fence, at place, a relabel.Action, prompt promptRow) {
	args := append([]any{f.TrajectoryID, f.Attempt, at.t, a.PolicyID, at.sample}, actionValues(a, prompt)...)
	b.Queue(`INSERT INTO actions (trajectory_id, attempt, t, policy_id, sample, status, reason, raw, finish_reason, refusal, parse,
		token_ids, logprobs, prompt_tokens, completion_tokens, cached_tokens, model, fingerprint,
		said, read_as, not_given, millis, prompt_base_t, prompt_base_sample, prompt_shared, prompt_rest)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`, args...)
}

// actionValues are an action's columns from status on.
func actionValues(a relabel.Action, prompt promptRow) []any {
	var reason *string
	if a.Status == relabel.Missing {
		said := validUTF8(a.Reason)
		reason = &said
	}
	var refusal []byte
	if a.Refusal != "" {
		refusal = []byte(a.Refusal)
	}
	asked, completion, cached := usageValues(a.Usage)
	return append([]any{a.Status, reason, a.Raw, validUTF8(a.FinishReason), refusal, a.Parse,
		a.TokenIDs, a.Logprobs, asked, completion, cached, validUTF8(a.Model), validUTF8(a.Fingerprint),
		a.Said, a.ReadAs, a.NotGiven, max(a.Millis, 0)}, prompt.values()...)
}

// usageValues are three nulls if the server reported no usage.
func usageValues(u *relabel.Usage) (prompt, completion, cached *int) {
	if u == nil {
		return nil, nil, nil
	}
	return &u.PromptTokens, &u.CompletionTokens, &u.CachedTokens
}

// settled returns the result for a turn that did not fit: it is already stored, the fence is
// lost, or it is invalid.
func (c *committing) settled(ctx context.Context, tx pgx.Tx) error {
	refused := refusal(ctx, tx, c.fence, "commit this turn")
	if relabel.CodeOf(refused) != relabel.CodeConflict {
		return refused
	}
	stored, err := readTurns(ctx, tx, c.fence.TrajectoryID, c.fence.Attempt, c.turn.T, c.turn.T+1)
	if err != nil {
		return err
	}
	if len(stored) == 1 && c.same(stored[0]) {
		return nil
	}
	var state relabel.TrajectoryState
	var turns, length, trail int
	err = tx.QueryRow(ctx, "SELECT state, turns, length(executors), trail FROM trajectories WHERE id = $1",
		c.fence.TrajectoryID).Scan(&state, &turns, &length, &trail)
	switch {
	case err != nil:
		return err
	case len(stored) == 1:
		return relabel.Errorf(relabel.CodeConflict, "turn %d already exists with different content", c.turn.T)
	case trail < c.fence.Attempt:
		return relabel.Errorf(relabel.CodeConflict, "the turns of attempt %d are not replayed yet", trail)
	case c.turn.T > length:
		return relabel.Errorf(relabel.CodeInvalid, "turn %d is beyond the last, %d", c.turn.T, length).On("t")
	case state == relabel.Running && turns == c.turn.T-1:
		return relabel.Errorf(relabel.CodeInvalid, "another executor was drawn for turn %d", c.turn.T).On("executor")
	case state == relabel.Running:
		return relabel.Errorf(relabel.CodeConflict, "turn %d does not follow turn %d", c.turn.T, turns)
	}
	return refused
}

// same reports whether the stored turn is this one. Its label may have been settled since.
func (c *committing) same(stored relabel.Turn) bool {
	if stored.Executor != c.turn.Executor || stored.Tree != validUTF8(c.turn.Tree) || !sameAction(stored.Action, c.turn.Action) ||
		len(stored.Observations) != len(c.turn.Observations) || (stored.Label == nil) != (c.label == nil) {
		return false
	}
	for k, o := range c.turn.Observations {
		if !reflect.DeepEqual(o, stored.Observations[k]) {
			return false
		}
	}
	return c.label == nil || c.label.Status == relabel.Pending && stored.Label.PolicyID == c.label.PolicyID || sameAction(*stored.Label, *c.label)
}

func sameAction(a, b relabel.Action) bool {
	return a.PolicyID == b.PolicyID && a.Status == b.Status && bytes.Equal(a.Raw, b.Raw) && bytes.Equal(a.Said, b.Said)
}
