package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// settleUpdate turns an owed label of turn $4 into what it came to be. It demands the
// fence in the same statement, and takes the trajectory's lock first, as every write of
// a trajectory does.
const settleUpdate = `WITH held AS (SELECT id, attempt FROM trajectories WHERE` + fenced + settleHeld

const settleHeld = `FOR NO KEY UPDATE)
	UPDATE actions a SET status = $6, reason = $7, raw = $8, finish_reason = $9, refusal = $10, parse = $11, token_ids = $12,
		logprobs = $13, prompt_tokens = $14, completion_tokens = $15, cached_tokens = $16, model = $17, fingerprint = $18,
		said = $19, read_as = $20, not_given = $21, millis = $22,
		prompt_base_t = $23, prompt_base_sample = $24, prompt_shared = $25, prompt_rest = $26
	FROM held, turns tu
	WHERE (tu.trajectory_id, tu.attempt, tu.t) = (held.id, held.attempt, $4) AND tu.label_policy_id = $5
	AND (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
	AND a.status = 'owed'`

// SettleLabel turns an owed label of turn t into had or missing. A label that is not
// owed is left as it is, which is a CodeConflict error.
func (s *Store) SettleLabel(ctx context.Context, f relabel.Fence, t int, label relabel.Action) error {
	if label.Status != relabel.Had && label.Status != relabel.Missing {
		return relabel.Errorf(relabel.CodeInvalid, "a label settles as had or missing, not %q", label.Status).On("status")
	}
	return s.settle(ctx, func(tx pgx.Tx, again bool) error {
		settled, err := settleOwed(ctx, tx, settleUpdate, f, t, label)
		if err == nil && !settled {
			return labelSettled(ctx, tx, f, t, label, again)
		}
		return err
	})
}

// settleOwed settles the label with the given form of settleUpdate, and reports whether
// it was owed.
func settleOwed(ctx context.Context, tx pgx.Tx, update string, f relabel.Fence, t int, label relabel.Action) (bool, error) {
	prompt, err := fitLabel(ctx, tx, f, t, label)
	if err != nil {
		return false, err
	}
	args := append([]any{f.TrajectoryID, f.Attempt, f.Owner, t, label.PolicyID}, actionValues(label, prompt)...)
	tag, err := tx.Exec(ctx, update, args...)
	if err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	return true, countLabel(ctx, tx, f, t, label)
}

// fitLabel takes the trajectory's lock and returns how a label's prompt is stored. Where
// the fence does not hold, the update finds that out.
func fitLabel(ctx context.Context, tx pgx.Tx, f relabel.Fence, t int, label relabel.Action) (promptRow, error) {
	_, err := tx.Exec(ctx, "SELECT FROM trajectories WHERE id = $1 AND attempt = $2 FOR NO KEY UPDATE", f.TrajectoryID, f.Attempt)
	if err != nil {
		return promptRow{}, err
	}
	return fitPrompt(ctx, tx, f, place{t, 1}, label) // after an action of the same policy, if there is one
}

// forgone begins the reason of a label that was owed when its trajectory failed, was
// cancelled, or began again.
const forgone = "the attempt ended first: "

// forgoLabels makes missing what the trajectories owe and will not get: they are failed,
// cancelled, or begin again. The caller has locked them.
func forgoLabels(ctx context.Context, tx pgx.Tx, ids []relabel.ID, why string) error {
	b := &pgx.Batch{}
	b.Queue("UPDATE actions SET status = 'missing', reason = $2 WHERE trajectory_id = ANY ($1) AND status = 'owed'",
		ids, forgone+why)
	b.Queue(`UPDATE trajectories SET labels_missing = labels_missing + labels_owed, labels_owed = 0
		WHERE id = ANY ($1) AND labels_owed > 0`, ids)
	return tx.SendBatch(ctx, b).Close()
}

// labelSettled says why no owed label was found. After an unclear commit the same label
// is no error.
func labelSettled(ctx context.Context, tx pgx.Tx, f relabel.Fence, t int, label relabel.Action, again bool) error {
	if again {
		stored, err := readTurns(ctx, tx, f.TrajectoryID, f.Attempt, t, t+1)
		if err != nil {
			return err
		}
		if len(stored) == 1 && stored[0].Label != nil && stored[0].Label.Status == label.Status && bytes.Equal(stored[0].Label.Raw, label.Raw) {
			return nil
		}
	}
	return refusal(ctx, tx, f, "settle a label that it does not owe")
}

// countLabel moves the label from owed in the trajectory's counts, and compares it with
// the student's action.
func countLabel(ctx context.Context, tx pgx.Tx, f relabel.Fence, t int, label relabel.Action) error {
	agrees, err := compare(ctx, tx, f, t, label)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`UPDATE trajectories SET labels_owed = labels_owed - 1, labels_had = labels_had + $2, labels_missing = labels_missing + $3,
		compared = compared + $4, agreed = agreed + $5 WHERE id = $1`, f.TrajectoryID,
		one(label.Status == relabel.Had), one(label.Status == relabel.Missing), one(agrees != nil), one(agrees != nil && *agrees))
	b.Queue("UPDATE turns SET agrees = $4 WHERE trajectory_id = $1 AND attempt = $2 AND t = $3", f.TrajectoryID, f.Attempt, t, agrees)
	return tx.SendBatch(ctx, b).Close()
}

// compare reads the executed action of turn t and compares the label with it.
func compare(ctx context.Context, tx pgx.Tx, f relabel.Fence, t int, label relabel.Action) (*bool, error) {
	var executed relabel.Action
	err := tx.QueryRow(ctx, `SELECT a.raw FROM turns tu JOIN actions a
		ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
		WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.t = $3 AND tu.executor = 'student'`,
		f.TrajectoryID, f.Attempt, t).Scan(&executed.Raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return agreement(executed, label), err
}
