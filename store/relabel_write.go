package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// relabelings are relabelings re with their iterations it and runs ru, joined at once, which is
// fast for a paused run with many.
const relabelings = ` FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id
	JOIN iterations it ON it.id = tr.iteration_id JOIN runs ru ON ru.id = tr.run_id `

// relabelingsDue are the relabelings that a worker, given as an SQL expression, may claim.
func relabelingsDue(worker string) string {
	return relabelings + `WHERE (re.state = 'queued' OR re.state = 'running' AND re.lease_until <= clock_timestamp())
		AND it.paused IS NULL AND ru.paused IS NULL AND re.policy_id NOT IN ` + downPolicies(worker) + ` `
}

// nextRelabeling is the next relabeling for worker $1.
var nextRelabeling = "SELECT re.id" + relabelingsDue("$1") + "ORDER BY re.priority DESC, re.created_at, re.id LIMIT 1 FOR NO KEY UPDATE OF re SKIP LOCKED"

// ClaimRelabeling claims the next relabeling: the highest priority first, then the oldest. One
// with an expired lease counts as queued. Paused runs and iterations and policies with a down
// endpoint are skipped. CodeNotFound if there is none.
func (s *Store) ClaimRelabeling(ctx context.Context, owner string, lease time.Duration) (relabel.RelabelClaim, error) {
	var c relabel.RelabelClaim
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		c = relabel.RelabelClaim{RelabelFence: relabel.RelabelFence{Owner: owner}}
		var trajectory, policy relabel.ID
		var attempt int
		err := tx.QueryRow(ctx, `UPDATE relabelings SET state = 'running', claim = claim + 1, owner = $1,
				lease_until = clock_timestamp() + $2::interval, started_at = coalesce(started_at, clock_timestamp())
			WHERE id = (`+nextRelabeling+`)
			RETURNING id, claim, trajectory_id, policy_id, attempt`, owner, lease).Scan(&c.RelabelingID, &c.Claim, &trajectory, &policy, &attempt)
		if errors.Is(err, pgx.ErrNoRows) {
			return relabel.Errorf(relabel.CodeNotFound, "nothing to relabel now")
		}
		if err != nil {
			return err
		}
		return readRelabeling(ctx, tx, &c, trajectory, policy, attempt)
	})
	return c, err
}

func readRelabeling(ctx context.Context, tx pgx.Tx, c *relabel.RelabelClaim, trajectory, policy relabel.ID, attempt int) error {
	b := &pgx.Batch{}
	readInto(b, &c.Trajectory, pgx.RowToStructByName[relabel.Trajectory], trajectorySelect+" WHERE tr.id = $1", trajectory)
	readInto(b, &c.Run, pgx.RowToStructByName[relabel.Run], runSelect+" JOIN trajectories tr ON tr.run_id = ru.id WHERE tr.id = $1", trajectory)
	readInto(b, &c.Task, scanTask, taskSelect+" JOIN trajectories tr ON tr.task_id = ta.id WHERE tr.id = $1", trajectory)
	readInto(b, &c.Policy, pgx.RowToStructByName[relabel.Policy], policySelect+" WHERE po.id = $1", policy)
	queueRead(b, &c.Pending, pgx.RowTo[int], `SELECT tu.t FROM turns tu WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND NOT EXISTS (SELECT 1 FROM actions a
		WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, $3, $4)) ORDER BY tu.t`,
		trajectory, attempt, policy, relabelSample)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	var err error
	c.Turns, err = readTurns(ctx, tx, trajectory, attempt, 1, allTurns)
	return err
}

// RenewRelabeling extends the lease and reports whether the run or iteration is paused.
// CodeLeaseLost if the fence does not hold (cancelled or taken over), here and below.
func (s *Store) RenewRelabeling(ctx context.Context, f relabel.RelabelFence, lease time.Duration) (paused bool, err error) {
	err = s.changeJob(ctx, ofRelabeling(f), "lease_until = clock_timestamp() + $4::interval", "", lease)
	if err != nil {
		return false, err
	}
	err = s.pool.QueryRow(ctx, "SELECT it.paused IS NOT NULL OR ru.paused IS NOT NULL"+relabelings+"WHERE re.id = $1", f.RelabelingID).Scan(&paused)
	return paused, classify(err)
}

// ReleaseRelabeling returns the relabeling to the queue.
func (s *Store) ReleaseRelabeling(ctx context.Context, f relabel.RelabelFence) error {
	return s.changeJob(ctx, ofRelabeling(f), "state = 'queued', owner = NULL, lease_until = NULL", "queued")
}

// FinishRelabeling moves a relabeling without pending answers to done.
func (s *Store) FinishRelabeling(ctx context.Context, f relabel.RelabelFence) error {
	return s.changeJob(ctx, ofRelabeling(f), "state = 'done', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()", "done")
}

// FailRelabeling moves the relabeling to failed, with a reason that is safe to show.
func (s *Store) FailRelabeling(ctx context.Context, f relabel.RelabelFence, reason string) error {
	return s.changeJob(ctx, ofRelabeling(f), "state = 'failed', failure = $4, owner = NULL, lease_until = NULL, ended_at = clock_timestamp()", "failed", validUTF8(reason))
}

// SettleRelabel stores the policy's answer for the state of turn t, received or missing. The
// same answer twice is not an error; another one is a CodeConflict.
func (s *Store) SettleRelabel(ctx context.Context, f relabel.RelabelFence, t int, answer relabel.Action) error {
	if answer.Status != relabel.Received && answer.Status != relabel.Missing {
		return relabel.Errorf(relabel.CodeInvalid, "an answer must be received or missing, not %q", answer.Status).On("status")
	}
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		of := relabel.Fence{Owner: f.Owner}
		var policy relabel.ID
		err := tx.QueryRow(ctx, "SELECT trajectory_id, attempt, policy_id FROM relabelings WHERE"+jobFenced+"FOR NO KEY UPDATE",
			f.RelabelingID, f.Claim, f.Owner).Scan(&of.TrajectoryID, &of.Attempt, &policy)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return ofRelabeling(f).lost()
		case err != nil:
			return err
		case policy != answer.PolicyID:
			return relabel.Errorf(relabel.CodeInvalid, "the answer is from another policy than requested").On("policy_id")
		}
		return settleAnswer(ctx, tx, f, of, t, answer)
	})
}

func settleAnswer(ctx context.Context, tx pgx.Tx, f relabel.RelabelFence, of relabel.Fence, t int, answer relabel.Action) error {
	var status relabel.ActionStatus
	var raw []byte
	err := tx.QueryRow(ctx, `SELECT status, raw FROM actions WHERE (trajectory_id, attempt, t, policy_id, sample) = ($1, $2, $3, $4, $5)`,
		of.TrajectoryID, of.Attempt, t, answer.PolicyID, relabelSample).Scan(&status, &raw)
	switch {
	case err == nil && status == answer.Status && bytes.Equal(raw, answer.Raw):
		return nil
	case err == nil:
		return relabel.Errorf(relabel.CodeConflict, "turn %d already has another answer", t)
	case !errors.Is(err, pgx.ErrNoRows):
		return err
	}
	at := place{t, relabelSample}
	prompt, err := fitPrompt(ctx, tx, of, at, answer)
	if err != nil {
		return err
	}
	agrees, err := compareFirst(ctx, tx, of, t, answer)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	queueAction(b, of, at, answer, prompt)
	b.Queue(`UPDATE relabelings SET pending = pending - 1, received = received + $2, missing = missing + $3, compared = compared + $4, agreed = agreed + $5 WHERE id = $1`,
		f.RelabelingID, one(answer.Status == relabel.Received), one(answer.Status == relabel.Missing), one(agrees != nil), one(agrees != nil && *agrees))
	return tx.SendBatch(ctx, b).Close()
}

// compareFirst compares an answer with the turn's first label; nil if either is missing.
func compareFirst(ctx context.Context, tx pgx.Tx, f relabel.Fence, t int, answer relabel.Action) (*bool, error) {
	var first relabel.Action
	err := tx.QueryRow(ctx, `SELECT a.raw FROM turns tu JOIN actions a
		ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
		WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.t = $3 AND a.status = 'received'`, f.TrajectoryID, f.Attempt, t).Scan(&first.Raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return agreement(first, answer), err
}
