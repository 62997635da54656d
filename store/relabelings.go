package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// relabelSample is the sample number of relabelings. It differs from those of executed actions
// (0) and first labels (0 or 1) of any policy.
const relabelSample = 2

const relabelSelect = `SELECT re.id, tr.run_id, tr.iteration_id, re.trajectory_id, ta.instance_id, re.policy_id, re.state, coalesce(re.failure, '') AS failure,
	re.priority, re.turns, re.received, re.missing, re.pending, re.compared, re.agreed, re.created_at, re.started_at, re.ended_at
	FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id JOIN tasks ta ON ta.id = tr.task_id`

// RelabelTrajectory queues the relabeling of the states of a done trajectory by a policy: all that its
// label rule selected, so that the weights of labels are those of the new ones too. A
// repeated request returns the same relabeling and asks again for missing answers. CodeConflict
// if the trajectory is not done or has no turn, or its run is being deleted.
func (s *Store) RelabelTrajectory(ctx context.Context, trajectory, policy relabel.ID, priority int) (relabel.Relabeling, error) {
	t, err := s.FindTrajectory(ctx, trajectory)
	switch {
	case err != nil:
		return relabel.Relabeling{}, err
	case t.State != relabel.Done:
		return relabel.Relabeling{}, relabel.Errorf(relabel.CodeConflict, "the trajectory is %s: only one that is done is relabelled", t.State)
	case t.Turns == t.LabelsNotSelected:
		return relabel.Relabeling{}, relabel.Errorf(relabel.CodeConflict, "the trajectory has no turn whose state the label rule selected")
	}
	if err := s.relabel(ctx, []relabel.ID{trajectory}, policy, priority); err != nil {
		return relabel.Relabeling{}, err
	}
	re, err := readOne[relabel.Relabeling](ctx, s.pool,
		relabelSelect+" WHERE re.trajectory_id = $1 AND re.policy_id = $2", trajectory, policy)
	return re, classify(err)
}

// RelabelIteration is RelabelTrajectory for each done trajectory of the iteration. CodeConflict
// if none is done, or the run is being deleted.
func (s *Store) RelabelIteration(ctx context.Context, iteration, policy relabel.ID, priority int) (relabel.RelabelProgress, error) {
	if _, _, err := s.FindIteration(ctx, iteration); err != nil {
		return relabel.RelabelProgress{}, err
	}
	ids, err := readColumn[relabel.ID](ctx, s.pool,
		"SELECT id FROM trajectories WHERE iteration_id = $1 AND state = 'done' AND turns > labels_not_selected ORDER BY id", iteration)
	switch {
	case err != nil:
		return relabel.RelabelProgress{}, classify(err)
	case len(ids) == 0:
		return relabel.RelabelProgress{}, relabel.Errorf(relabel.CodeConflict, "no trajectory of the iteration is done")
	}
	if err := s.relabel(ctx, ids, policy, priority); err != nil {
		return relabel.RelabelProgress{}, err
	}
	all, err := s.RelabelProgress(ctx, iteration)
	for _, p := range all {
		if p.PolicyID == policy {
			return p, nil
		}
	}
	return relabel.RelabelProgress{}, err
}

// relabel queues the relabelings of done trajectories of one run.
func (s *Store) relabel(ctx context.Context, trajectories []relabel.ID, policy relabel.ID, priority int) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := keepRun(ctx, tx, ofTrajectory, trajectories[0]); err != nil {
			return err
		}
		again, err := askAgain(ctx, tx, trajectories, policy, priority)
		if err != nil {
			return err
		}
		ids := make([]relabel.ID, len(trajectories))
		for i := range ids {
			ids[i] = relabel.NewID()
		}
		tag, err := tx.Exec(ctx, `INSERT INTO relabelings (id, trajectory_id, attempt, policy_id, priority, turns, pending)
			SELECT n.id, tr.id, tr.attempt, $3, $4, tr.turns - tr.labels_not_selected, tr.turns - tr.labels_not_selected FROM unnest($1::uuid[], $2::uuid[]) AS n(id, trajectory)
			JOIN trajectories tr ON tr.id = n.trajectory AND tr.state = 'done' ON CONFLICT (trajectory_id, policy_id) DO NOTHING`, ids, trajectories, policy, priority)
		if err != nil {
			return err
		}
		return s.wakeLabellers(ctx, tx, relabel.RelabelJob{}, again+int(tag.RowsAffected()))
	})
}

// askAgain requeues finished relabelings with missing answers, deletes these, and counts the
// relabelings.
func askAgain(ctx context.Context, tx pgx.Tx, trajectories []relabel.ID, policy relabel.ID, priority int) (int, error) {
	again, err := readColumn[relabel.ID](ctx, tx,
		`UPDATE relabelings SET state = 'queued', priority = $3, pending = pending + missing, missing = 0, failure = NULL, ended_at = NULL
		WHERE trajectory_id = ANY ($1) AND policy_id = $2 AND state IN ('done', 'failed', 'cancelled') AND missing + pending > 0 RETURNING trajectory_id`,
		trajectories, policy, priority)
	if err != nil || len(again) == 0 {
		return 0, err
	}
	_, err = tx.Exec(ctx, `DELETE FROM actions a USING relabelings re WHERE re.trajectory_id = ANY ($1) AND re.policy_id = $2
		AND (a.trajectory_id, a.attempt, a.policy_id, a.sample) = (re.trajectory_id, re.attempt, re.policy_id, $3) AND a.status = 'missing'`,
		again, policy, relabelSample)
	return len(again), err
}

// FindRelabeling returns a relabeling; CodeNotFound if there is none.
func (s *Store) FindRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error) {
	return find[relabel.Relabeling](ctx, s, "relabeling", id, relabelSelect+" WHERE re.id = $1", id)
}

// ListRelabelings lists the relabelings that match the filter, newest first. CodeInvalid for an
// invalid page.
func (s *Store) ListRelabelings(ctx context.Context, f relabel.RelabelFilter, p relabel.Page) ([]relabel.Relabeling, string, error) {
	l := list[relabel.Relabeling]{query: relabelSelect, key: "re",
		keyOf: func(r relabel.Relabeling) cursor { return cursor{r.CreatedAt, r.ID} }}
	narrow(&l.queryBuilder, "tr.run_id = %s", f.RunID)
	narrow(&l.queryBuilder, "tr.iteration_id = %s", f.IterationID)
	narrow(&l.queryBuilder, "re.trajectory_id = %s", f.TrajectoryID)
	narrow(&l.queryBuilder, "re.policy_id = %s", f.PolicyID)
	narrow(&l.queryBuilder, "re.state = %s", f.State)
	return l.page(ctx, s, p)
}

// RelabelProgress sums an iteration's relabelings up, by policy.
func (s *Store) RelabelProgress(ctx context.Context, iteration relabel.ID) ([]relabel.RelabelProgress, error) {
	rows, _ := s.pool.Query(ctx, `SELECT re.policy_id, re.state, count(*), sum(re.turns), sum(re.received), sum(re.missing), sum(re.pending), sum(re.compared), sum(re.agreed)
		FROM relabelings re JOIN trajectories tr ON tr.id = re.trajectory_id WHERE tr.iteration_id = $1
		GROUP BY re.policy_id, re.state ORDER BY re.policy_id`, iteration)
	var all []relabel.RelabelProgress
	var part relabel.RelabelProgress
	var state relabel.RelabelState
	var n int
	_, err := pgx.ForEachRow(rows, []any{&part.PolicyID, &state, &n, &part.Turns, &part.Received, &part.Missing, &part.Pending, &part.Compared, &part.Agreed}, func() error {
		if len(all) == 0 || all[len(all)-1].PolicyID != part.PolicyID {
			all = append(all, relabel.RelabelProgress{PolicyID: part.PolicyID, Relabelings: map[relabel.RelabelState]int{}})
		}
		part.Relabelings = map[relabel.RelabelState]int{state: n}
		all[len(all)-1].Add(part)
		return nil
	})
	return all, classify(err)
}

const cancelRelabelings = `UPDATE relabelings re SET state = 'cancelled', owner = NULL, lease_until = NULL, ended_at = clock_timestamp()
	WHERE re.state IN ('queued', 'running') AND `

// CancelRelabeling cancels an open relabeling; its worker finds its lease lost. Received
// answers stay. Cancelling twice is not an error. CodeConflict if it ended otherwise.
func (s *Store) CancelRelabeling(ctx context.Context, id relabel.ID) (relabel.Relabeling, error) {
	err := s.exec(ctx, cancelRelabelings+"re.id = $1", id)
	if err != nil {
		return relabel.Relabeling{}, err
	}
	re, err := s.FindRelabeling(ctx, id)
	if err == nil && re.State != relabel.RelabelCancelled {
		return re, relabel.Errorf(relabel.CodeConflict, "the relabeling is %s", re.State)
	}
	return re, err
}

// CancelRelabelings cancels and counts an iteration's open relabelings, of one policy or (nil)
// of all.
func (s *Store) CancelRelabelings(ctx context.Context, iteration relabel.ID, policy *relabel.ID) (cancelled int, err error) {
	return s.execCount(ctx, cancelRelabelings+`re.trajectory_id IN (SELECT tr.id FROM trajectories tr WHERE tr.iteration_id = $1)
		AND ($2::uuid IS NULL OR re.policy_id = $2)`, iteration, policy)
}

// ClaimRelabeling claims the next relabeling: the highest priority first, then the oldest. One
// with an expired lease counts as queued. Paused runs and iterations and policies with a down
// endpoint are skipped. CodeNotFound if there is none.
func (s *Store) ClaimRelabeling(ctx context.Context, owner string, lease time.Duration) (relabel.RelabelClaim, error) {
	var c relabel.RelabelClaim
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		c = relabel.RelabelClaim{RelabelFence: relabel.RelabelFence{Owner: owner}}
		var trajectory, policy relabel.ID
		var attempt int
		err := claimPolicyJob(ctx, tx, "relabelings", owner, lease, "id, claim, trajectory_id, policy_id, attempt",
			&c.RelabelingID, &c.Claim, &trajectory, &policy, &attempt)
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
	readInto(b, &c.Task, scanTask, taskOfTrajectory, trajectory)
	readInto(b, &c.Policy, pgx.RowToStructByName[relabel.Policy], policySelect+" WHERE po.id = $1", policy)
	queueRead(b, &c.Pending, pgx.RowTo[int], `SELECT tu.t FROM turns tu WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND NOT EXISTS (SELECT 1 FROM actions a
		WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, $3, $4))
		AND NOT EXISTS (SELECT 1 FROM actions a WHERE (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample)
			= (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample) AND a.status = 'not_selected') ORDER BY tu.t`,
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
	return s.renewPolicyJob(ctx, ofRelabeling(f), lease)
}

// ReleaseRelabeling returns the relabeling to the queue.
func (s *Store) ReleaseRelabeling(ctx context.Context, f relabel.RelabelFence) error {
	return s.releasePolicyJob(ctx, ofRelabeling(f))
}

// FinishRelabeling moves a relabeling without pending answers to done.
func (s *Store) FinishRelabeling(ctx context.Context, f relabel.RelabelFence) error {
	return s.finishPolicyJob(ctx, ofRelabeling(f))
}

// FailRelabeling moves the relabeling to failed, with a reason that is safe to show.
func (s *Store) FailRelabeling(ctx context.Context, f relabel.RelabelFence, reason string) error {
	return s.failPolicyJob(ctx, ofRelabeling(f), reason)
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
			return relabel.Errorf(relabel.CodeInvalid, "the answer is not from the requested policy").On("policy_id")
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
