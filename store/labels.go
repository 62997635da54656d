package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// settleUpdate settles the pending label of turn $4, moves it in the trajectory's counts, and
// stores whether it agrees ($27) with the student's action. It checks the fence in the same
// statement, and takes the trajectory's lock first, like every write of a trajectory.
const settleUpdate = `WITH held AS (SELECT id, attempt FROM trajectories WHERE` + fenced + settleHeld

const settleHeld = `FOR NO KEY UPDATE),
	settled AS (UPDATE actions a SET status = $6, reason = $7, raw = $8, finish_reason = $9, refusal = $10, parse = $11, token_ids = $12,
		logprobs = $13, prompt_tokens = $14, completion_tokens = $15, cached_tokens = $16, model = $17, fingerprint = $18,
		said = $19, read_as = $20, not_given = $21, millis = $22,
		prompt_base_t = $23, prompt_base_sample = $24, prompt_shared = $25, prompt_rest = $26
		FROM held, turns tu
		WHERE (tu.trajectory_id, tu.attempt, tu.t) = (held.id, held.attempt, $4) AND tu.label_policy_id = $5
		AND (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
		AND a.status = 'pending' RETURNING a.trajectory_id, a.attempt, a.t),
	counted AS (UPDATE trajectories tr SET labels_pending = labels_pending - 1,
		labels_received = labels_received + ($6 = 'received')::integer, labels_missing = labels_missing + ($6 = 'missing')::integer,
		compared = compared + ($27::boolean IS NOT NULL)::integer, agreed = agreed + coalesce($27, false)::integer,
		ribbon = CASE WHEN $27 IS NULL THEN ribbon ELSE overlay(ribbon PLACING CASE WHEN $27 THEN 'a' ELSE 'd' END FROM $4 FOR 1) END,
		tokens = tokens + greatest($14, 0) + greatest($15, 0)
		FROM settled WHERE tr.id = settled.trajectory_id)
	UPDATE turns tu SET agrees = $27 FROM settled
	WHERE (tu.trajectory_id, tu.attempt, tu.t) = (settled.trajectory_id, settled.attempt, settled.t)`

// SettleLabel turns a pending label of turn t into a received or missing one. CodeConflict if
// the label is not pending.
func (s *Store) SettleLabel(ctx context.Context, f relabel.Fence, t int, label relabel.Action) error {
	if label.Status != relabel.Received && label.Status != relabel.Missing {
		return relabel.Errorf(relabel.CodeInvalid, "a label must end as received or missing, not %q", label.Status).On("status")
	}
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		settled, err := settlePending(ctx, tx, settleUpdate, f, t, label)
		if err == nil && !settled {
			return labelSettled(ctx, tx, f, t, label, again)
		}
		return err
	})
}

// settlePending settles the label with the given form of settleUpdate, and reports whether
// it was pending.
func settlePending(ctx context.Context, tx pgx.Tx, update string, f relabel.Fence, t int, label relabel.Action) (bool, error) {
	executed, err := lockLabelled(ctx, tx, f, t)
	if err != nil {
		return false, err
	}
	prompt, err := fitPrompt(ctx, tx, f, place{t, 1}, label) // after an action of the same policy, if there is one
	if err != nil {
		return false, err
	}
	var agrees *bool
	if executed != nil {
		agrees = agreement(relabel.Action{Raw: executed}, label)
	}
	args := append([]any{f.TrajectoryID, f.Attempt, f.Owner, t, label.PolicyID}, actionValues(label, prompt)...)
	tag, err := tx.Exec(ctx, update, append(args, agrees)...)
	return err == nil && tag.RowsAffected() > 0, err
}

// lockLabelled locks the trajectory and returns the student's action at turn t; nil if it did
// not execute it. It does not check the fence, which the update does.
func lockLabelled(ctx context.Context, tx pgx.Tx, f relabel.Fence, t int) (executed []byte, err error) {
	err = tx.QueryRow(ctx, `SELECT (SELECT a.raw FROM turns tu JOIN actions a
			ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id, tu.executor_sample)
			WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.t = $3 AND tu.executor = 'student')
		FROM trajectories WHERE id = $1 AND attempt = $2 FOR NO KEY UPDATE`, f.TrajectoryID, f.Attempt, t).Scan(&executed)
	return executed, ignoreNone(err)
}

// forgone begins the reason of a label that was pending when its trajectory failed, was
// cancelled or began again.
const forgone = "the attempt ended first: "

// forgoLabels makes the pending labels of trajectories missing, because these fail, are
// cancelled or begin again. The caller has locked them.
func forgoLabels(ctx context.Context, tx pgx.Tx, ids []relabel.ID, why string) error {
	b := &pgx.Batch{}
	b.Queue("UPDATE actions SET status = 'missing', reason = $2 WHERE trajectory_id = ANY ($1) AND status = 'pending'",
		ids, forgone+why)
	b.Queue(`UPDATE trajectories SET labels_missing = labels_missing + labels_pending, labels_pending = 0
		WHERE id = ANY ($1) AND labels_pending > 0`, ids)
	return tx.SendBatch(ctx, b).Close()
}

// labelSettled returns the reason why no pending label was found. After an unclear commit, the
// same label is not an error.
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
	return refusal(ctx, tx, f, "settle a label that is not pending")
}

// rolling selects iterations it that still roll out, or of which a worker is about to release a
// finished rollout, whose labels an earlier batch would miss.
const rolling = `(EXISTS (SELECT 1 FROM trajectories tr WHERE tr.iteration_id = it.id AND tr.state IN ('queued', 'running') AND tr.end_reason IS NULL)
	OR EXISTS (SELECT 1 FROM trajectories tr WHERE tr.run_id = it.run_id AND tr.owner IS NOT NULL AND tr.iteration_id = it.id AND tr.labels_pending > 0))`

// BeginLabelling begins the labelling of iterations with deferred labels whose rollouts have
// all ended, and continues labelling that has begun. The end of an iteration's last rollout
// does the same; this call repairs the effect of a crash. It is safe to call at any time, in
// any number of processes.
func (s *Store) BeginLabelling(ctx context.Context) error {
	iterations, err := readColumn[relabel.ID](ctx, s.pool,
		"SELECT DISTINCT iteration_id FROM trajectories WHERE state = 'labelling' AND owner IS NULL")
	if err != nil {
		return classify(err)
	}
	for _, id := range iterations {
		if err := s.beginLabelling(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// LabelIteration begins the labelling of finished rollouts while others of the iteration may
// still run. CodeConflict if the run labels inline or the iteration is over.
func (s *Store) LabelIteration(ctx context.Context, id relabel.ID) (relabel.Iteration, error) {
	it, _, err := s.FindIteration(ctx, id)
	if err != nil {
		return it, err
	}
	run, err := s.FindRun(ctx, it.RunID)
	switch {
	case err != nil:
		return it, err
	case !run.Labels.Deferred() || !it.Kind.Labelled():
		return it, relabel.Errorf(relabel.CodeConflict, "no labels of this iteration are deferred")
	case it.State != relabel.IterationRunning:
		return it, relabel.Errorf(relabel.CodeConflict, "the iteration is %s", it.State)
	}
	if err := s.label(ctx, id, true); err != nil {
		return it, err
	}
	it, _, err = s.FindIteration(ctx, id)
	return it, err
}

// beginLabelling begins an iteration's labelling if all its rollouts have ended.
func (s *Store) beginLabelling(ctx context.Context, iteration relabel.ID) error {
	return s.label(ctx, iteration, false)
}

// label moves an iteration's trajectories that wait for labels to the queue, or their labels to
// a batch if the run uses a batch endpoint. Trajectories with all labels of a batch return to
// the queue too.
func (s *Store) label(ctx context.Context, iteration relabel.ID, now bool) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		// A lock per iteration: otherwise two callers would create batches of the same labels.
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('labelling of ' || $1::text, 0))", iteration.String()); err != nil {
			return err
		}
		var mode relabel.LabelMode
		var begun, over bool
		err := tx.QueryRow(ctx, `SELECT ru.labels, it.labelling_since IS NOT NULL, NOT `+rolling+`
			FROM iterations it JOIN runs ru ON ru.id = it.run_id WHERE it.id = $1 AND it.state = 'running'`, iteration).Scan(&mode, &begun, &over)
		if err != nil {
			return ignoreNone(err)
		}
		if mode == relabel.LabelsDeferred && !begun && !over && !now {
			return nil
		}
		if err := s.requeueWaiting(ctx, tx, iteration, mode == relabel.LabelsDeferred); err != nil {
			return err
		}
		if mode == relabel.LabelsBatch && (over || now) {
			if err := s.gatherBatch(ctx, tx, iteration); err != nil {
				return err
			}
		}
		if begun || !over && !now {
			return nil
		}
		// Lock order: trajectories before their iteration.
		_, err = tx.Exec(ctx, "UPDATE iterations SET labelling_since = clock_timestamp() WHERE id = $1", iteration)
		return err
	})
}

// ignoreNone returns nil for pgx.ErrNoRows.
func ignoreNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// requeueWaiting returns waiting trajectories to the queue: those without pending labels, for
// their verification, or all of them, for their labels.
func (s *Store) requeueWaiting(ctx context.Context, tx pgx.Tx, iteration relabel.ID, all bool) error {
	ids, err := readColumn[relabel.ID](ctx, tx,
		requeueUpdate+` WHERE id IN (SELECT id FROM trajectories WHERE iteration_id = $1
		AND state = 'labelling' AND owner IS NULL AND ($2 OR labels_pending = 0) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) RETURNING id`, iteration, all)
	if err != nil {
		return err
	}
	return s.wakeFor(ctx, tx, iteration, len(ids))
}
