package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

const batchSelect = `SELECT ba.id, ba.iteration_id, ba.policy_id, ba.state, ba.round, ba.remote_file, ba.remote_id, ba.remote_state, ba.detail,
	(SELECT count(*) FROM label_batch_items i WHERE i.batch_id = ba.id) AS labels,
	(SELECT count(*) FROM label_batch_items i WHERE i.batch_id = ba.id AND i.status = 'received') AS received,
	(SELECT count(*) FROM label_batch_items i WHERE i.batch_id = ba.id AND i.status = 'missing') AS missing,
	(SELECT count(*) FROM label_batch_items i WHERE i.batch_id = ba.id AND i.status = 'returned') AS returned,
	ba.created_at, ba.sent_at, ba.ended_at FROM label_batches ba`

// ListBatches lists an iteration's label batches in the order of creation.
func (s *Store) ListBatches(ctx context.Context, iteration relabel.ID) ([]relabel.LabelBatch, error) {
	return listAll[relabel.LabelBatch](ctx, s,
		batchSelect+" WHERE ba.iteration_id = $1 ORDER BY ba.created_at, ba.id", iteration)
}

// gatherBatch creates a batch of the pending labels of an iteration's waiting trajectories that
// are in no batch, and wakes a worker for it.
func (s *Store) gatherBatch(ctx context.Context, tx pgx.Tx, iteration relabel.ID) error {
	batch := relabel.NewID()
	_, err := tx.Exec(ctx, `INSERT INTO label_batches (id, iteration_id, policy_id)
		SELECT $1, it.id, ru.teacher_id FROM iterations it JOIN runs ru ON ru.id = it.run_id WHERE it.id = $2`, batch, iteration)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `INSERT INTO label_batch_items (batch_id, trajectory_id, attempt, t)
		SELECT $1, tr.id, tr.attempt, tu.t FROM trajectories tr
		JOIN turns tu ON tu.trajectory_id = tr.id AND tu.attempt = tr.attempt
		JOIN actions a ON (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
		WHERE tr.iteration_id = $2 AND tr.state = 'labelling' AND tr.owner IS NULL AND a.status = 'pending'
		ON CONFLICT DO NOTHING`, batch, iteration)
	switch {
	case err != nil:
		return err
	case tag.RowsAffected() > 0:
		return s.wakeLabellers(ctx, tx, relabel.LabelBatchJob{}, 1)
	}
	_, err = tx.Exec(ctx, "DELETE FROM label_batches WHERE id = $1", batch)
	return err
}

// batchDue selects batches ba that can be claimed. Batches that a paused run has already sent
// are still due.
const batchDue = ` ba.ended_at IS NULL AND ba.due_at <= clock_timestamp() AND (ba.owner IS NULL OR ba.lease_until <= clock_timestamp())
	AND (ba.state <> 'prepared' OR NOT EXISTS (SELECT 1 FROM iterations it JOIN runs ru ON ru.id = it.run_id
		WHERE it.id = ba.iteration_id AND (it.paused IS NOT NULL OR ru.paused IS NOT NULL))) `

// ClaimBatch gives owner the batch that has been due for longest. CodeNotFound when none
// is due.
func (s *Store) ClaimBatch(ctx context.Context, owner string, lease time.Duration) (relabel.BatchClaim, error) {
	c := relabel.BatchClaim{BatchFence: relabel.BatchFence{Owner: owner}}
	err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
		err := tx.QueryRow(ctx, `UPDATE label_batches SET claim = claim + 1, owner = $1, lease_until = clock_timestamp() + $2::interval
			WHERE id = (SELECT ba.id FROM label_batches ba WHERE`+batchDue+`ORDER BY ba.due_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
			RETURNING id, claim`, owner, lease).Scan(&c.BatchID, &c.Claim)
		if err != nil {
			return noneDue(err, "no batch is due")
		}
		c.Items = nil
		return readBatch(ctx, tx, &c)
	})
	return c, err
}

func readBatch(ctx context.Context, tx pgx.Tx, c *relabel.BatchClaim) error {
	b := &pgx.Batch{}
	readInto(b, &c.Batch, pgx.RowToStructByName[relabel.LabelBatch], batchSelect+" WHERE ba.id = $1", c.BatchID)
	readInto(b, &c.Run, pgx.RowToStructByName[relabel.Run],
		runSelect+" JOIN iterations it ON it.run_id = ru.id JOIN label_batches ba ON ba.iteration_id = it.id WHERE ba.id = $1", c.BatchID)
	readInto(b, &c.Policy, pgx.RowToStructByName[relabel.Policy], policySelect+" JOIN label_batches ba ON ba.policy_id = po.id WHERE ba.id = $1", c.BatchID)
	queueRead(b, &c.Items, pgx.RowToStructByName[relabel.BatchItem], `SELECT i.trajectory_id, i.attempt, i.t, CASE WHEN i.prompt_by IS NOT NULL THEN json_build_object(
			'tokens', i.prompt_estimate, 'by', i.prompt_by, 'not_counted', i.prompt_not_counted) END AS size, i.sampling FROM label_batch_items i
		JOIN trajectories tr ON tr.id = i.trajectory_id AND tr.attempt = i.attempt AND tr.state = 'labelling' AND tr.owner IS NULL
		WHERE i.batch_id = $1 AND i.status = 'asked' ORDER BY i.trajectory_id, i.t`, c.BatchID)
	return tx.SendBatch(ctx, b).Close()
}

// RenewBatch extends the lease. CodeLeaseLost if the fence does not hold, here and
// below.
func (s *Store) RenewBatch(ctx context.Context, f relabel.BatchFence, lease time.Duration) error {
	return s.changeJob(ctx, ofBatch(f), "lease_until = clock_timestamp() + $4::interval", "", lease)
}

// KeepBatchFile records the file that was sent to the endpoint, and the prompt size and sampling
// of each item: the worker that reads the answers records them with the call.
func (s *Store) KeepBatchFile(ctx context.Context, f relabel.BatchFence, file string, items []relabel.BatchItem) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := ofBatch(f).update(ctx, tx, "remote_file = $4", file); err != nil {
			return err
		}
		return keepRequests(ctx, tx, f.BatchID, items)
	})
}

func keepRequests(ctx context.Context, tx pgx.Tx, batch relabel.ID, items []relabel.BatchItem) error {
	var trajectories []relabel.ID
	var turns, tokens []int
	var by, notCounted []string
	var sampling []*relabel.Sampling
	for _, item := range items {
		if item.Size == nil {
			continue
		}
		trajectories, turns = append(trajectories, item.TrajectoryID), append(turns, item.T)
		tokens, by = append(tokens, item.Size.Tokens), append(by, item.Size.By)
		notCounted, sampling = append(notCounted, validUTF8(item.Size.NotCounted)), append(sampling, item.Sampling)
	}
	_, err := tx.Exec(ctx, `UPDATE label_batch_items i SET prompt_estimate = s.tokens, prompt_by = s.by, prompt_not_counted = s.not_counted, sampling = s.sampling
		FROM unnest($2::uuid[], $3::integer[], $4::integer[], $5::text[], $6::text[], $7::json[]) AS s (trajectory_id, t, tokens, by, not_counted, sampling)
		WHERE i.batch_id = $1 AND i.trajectory_id = s.trajectory_id AND i.t = s.t`, batch, trajectories, turns, tokens, by, notCounted, sampling)
	return err
}

// SendingBatch records that the endpoint may receive the batch from now on.
func (s *Store) SendingBatch(ctx context.Context, f relabel.BatchFence) error {
	return s.changeJob(ctx, ofBatch(f), "state = 'sending'", "")
}

// SentBatch records the endpoint's id of the batch.
func (s *Store) SentBatch(ctx context.Context, f relabel.BatchFence, remote string) error {
	return s.changeJob(ctx, ofBatch(f), "state = 'sent', remote_id = $4, detail = '', sent_at = coalesce(sent_at, clock_timestamp())", "", remote)
}

// PutOffBatch releases the batch until pause has passed, and records the endpoint's state of it
// and the error ("": none).
func (s *Store) PutOffBatch(ctx context.Context, f relabel.BatchFence, remoteState, detail string, pause time.Duration) error {
	return s.changeJob(ctx, ofBatch(f), `owner = NULL, lease_until = NULL, due_at = clock_timestamp() + $6::interval,
		remote_state = CASE WHEN $4 = '' THEN remote_state ELSE $4 END, detail = $5`, "", validUTF8(remoteState), validUTF8(detail), pause)
}

// SplitBatch moves items of an unsent batch to a new batch.
func (s *Store) SplitBatch(ctx context.Context, f relabel.BatchFence, items []relabel.BatchItem) error {
	next := relabel.NewID()
	return s.retryTx(ctx, unlessCreated("label_batches", next), func(tx pgx.Tx, _ bool) error {
		if err := s.followUp(ctx, tx, f, next, "AND state = 'prepared'", 0, 0); err != nil {
			return err
		}
		ids, turns := make([]relabel.ID, len(items)), make([]int, len(items))
		for i, item := range items {
			ids[i], turns[i] = item.TrajectoryID, item.T
		}
		_, err := tx.Exec(ctx, `UPDATE label_batch_items SET batch_id = $2
			WHERE batch_id = $1 AND (trajectory_id, t) IN (SELECT * FROM unnest($3::uuid[], $4::integer[]))`, f.BatchID, next, ids, turns)
		return err
	})
}

// followUp creates a successor of the batch, rounds later, due after pause.
func (s *Store) followUp(ctx context.Context, tx pgx.Tx, f relabel.BatchFence, next relabel.ID, condition string, rounds int, pause time.Duration) error {
	of := ofBatch(f)
	err := execOrElse(ctx, tx, of.lost, `INSERT INTO label_batches (id, iteration_id, policy_id, round, due_at)
		SELECT $4, iteration_id, policy_id, round + $5, clock_timestamp() + $6::interval FROM label_batches
		WHERE`+jobFenced+condition, of.args(next, rounds, pause)...)
	if err != nil || pause > 0 {
		return err // WakeLabellers sees to what is due later
	}
	return s.wakeLabellers(ctx, tx, relabel.LabelBatchJob{}, 1)
}

// settleWaiting is settleUpdate for a trajectory that waits for its labels. It has no owner, so
// the caller checks the batch's fence first ($3 is its owner).
const settleWaiting = `WITH held AS (SELECT id, attempt FROM trajectories
	WHERE id = $1 AND attempt = $2 AND owner IS NULL AND state = 'labelling' AND $3::text <> '' ` + settleHeld

// SettleBatched turns a pending label of the batch into a received or missing one. It ignores a
// label that is no longer pending.
func (s *Store) SettleBatched(ctx context.Context, f relabel.BatchFence, item relabel.BatchItem, label relabel.Action) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		if err := ofBatch(f).lock(ctx, tx); err != nil {
			return err
		}
		of := relabel.Fence{TrajectoryID: item.TrajectoryID, Attempt: item.Attempt, Owner: f.Owner}
		settled, err := settlePending(ctx, tx, settleWaiting, of, item.T, label)
		if err != nil || !settled {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE label_batch_items SET status = $4 WHERE batch_id = $1 AND trajectory_id = $2 AND t = $3",
			f.BatchID, item.TrajectoryID, item.T, label.Status)
		return err
	})
}

// EndBatch ends the batch. Labels that are still pending move to a batch of the next round, due
// after pause. Trajectories with no pending label continue.
func (s *Store) EndBatch(ctx context.Context, f relabel.BatchFence, as relabel.BatchState, remoteState, detail string, pause time.Duration) error {
	next := relabel.NewID()
	var iteration relabel.ID
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, again bool) error {
		var ended bool
		err := tx.QueryRow(ctx, "SELECT iteration_id, ended_at IS NOT NULL FROM label_batches WHERE id = $1", f.BatchID).Scan(&iteration, &ended)
		if err != nil || again && ended {
			return err
		}
		if err := ofBatch(f).lock(ctx, tx); err != nil {
			return err
		}
		if err := s.handOn(ctx, tx, f, next, pause); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE label_batches SET state = $2, detail = $4, owner = NULL, lease_until = NULL, ended_at = clock_timestamp(),
			remote_state = CASE WHEN $3 = '' THEN remote_state ELSE $3 END WHERE id = $1`, f.BatchID, as, validUTF8(remoteState), validUTF8(detail))
		return err
	})
	if err != nil {
		return err
	}
	return s.beginLabelling(ctx, iteration)
}

// handOn moves the pending labels of the batch to the batch next.
func (s *Store) handOn(ctx context.Context, tx pgx.Tx, f relabel.BatchFence, next relabel.ID, pause time.Duration) error {
	const owing = `FROM trajectories tr, label_batch_items i, actions a, turns tu WHERE i.batch_id = $1 AND i.status = 'asked'
		AND tr.id = i.trajectory_id AND tr.attempt = i.attempt AND tr.state = 'labelling' AND tr.owner IS NULL
		AND (tu.trajectory_id, tu.attempt, tu.t) = (i.trajectory_id, i.attempt, i.t)
		AND (a.trajectory_id, a.attempt, a.t, a.policy_id, a.sample) = (tu.trajectory_id, tu.attempt, tu.t, tu.label_policy_id, tu.label_sample)
		AND a.status = 'pending'`
	var pending int
	if err := tx.QueryRow(ctx, "SELECT count(*) "+owing, f.BatchID).Scan(&pending); err != nil || pending == 0 {
		return err
	}
	if err := s.followUp(ctx, tx, f, next, "", 1, pause); err != nil {
		return err
	}
	rows, _ := tx.Query(ctx, "SELECT i.trajectory_id, i.attempt, i.t "+owing, f.BatchID)
	items, err := pgx.CollectRows(rows, pgx.RowToStructByNameLax[relabel.BatchItem])
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "UPDATE label_batch_items SET status = 'returned' WHERE batch_id = $1 AND status = 'asked'", f.BatchID); err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"label_batch_items"}, []string{"batch_id", "trajectory_id", "attempt", "t"},
		pgx.CopyFromSlice(len(items), func(i int) ([]any, error) {
			return []any{next, items[i].TrajectoryID, items[i].Attempt, items[i].T}, nil
		}))
	return err
}
