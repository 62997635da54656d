package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// answerSelect reads the answers of relabelings for the states of an attempt.
const answerSelect = `SELECT l.t, l.policy_id, l.status, l.reason, l.raw, l.finish_reason, l.refusal, l.parse, l.token_ids, l.logprobs,
	l.prompt_tokens, l.completion_tokens, l.cached_tokens, l.model, l.fingerprint, l.said, l.read_as, l.not_given, l.millis
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
		case turns[i].Action.PolicyID == policy:
			label = turns[i].Action
		default:
			label = relabel.Action{PolicyID: policy, Status: relabel.Missing, Reason: "the policy was not asked about this state, and did not act in it"}
		}
		turns[i].Label = &label
	}
	return nil
}
