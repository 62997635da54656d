package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/stats"
)

// unsummed lists the done trajectories of a run with scores of a teacher that came after their sums. A
// scoring never loses a received score.
const unsummed = `SELECT tr.id, tr.trail, sc.received
	FROM trajectories tr JOIN LATERAL (SELECT coalesce(sum(received), 0)::integer AS received FROM scorings WHERE trajectory_id = tr.id) sc ON true
	WHERE tr.run_id = $1 AND tr.state = 'done'
	AND EXISTS (SELECT FROM scorings WHERE trajectory_id = tr.id AND policy_id = $2 AND received > 0)
	AND NOT EXISTS (SELECT FROM divergence_sums ds WHERE (ds.trajectory_id, ds.teacher_id, ds.attempt, ds.received) = (tr.id, $2, tr.trail, sc.received))
	ORDER BY tr.id`

// scoredTrajectory is a trajectory with the number of its scores.
type scoredTrajectory struct {
	ID              relabel.ID
	Trail, Received int
}

// sumDivergences computes the sums that are missing or older than the last score, each in a transaction
// of its own, so that what was computed stays if ctx ends. One caller of a Store at a time does so for a run.
func (s *Store) sumDivergences(ctx context.Context, run, teacher relabel.ID) error {
	slot, _ := s.sums.LoadOrStore(run, make(chan struct{}, 1))
	sums := slot.(chan struct{})
	select {
	case sums <- struct{}{}:
	case <-ctx.Done():
		return classify(ctx.Err())
	}
	defer func() { <-sums }()
	rows, _ := s.pool.Query(ctx, unsummed, run, teacher)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[scoredTrajectory])
	if err != nil {
		return classify(err)
	}
	for _, of := range list {
		if err := s.sumDivergence(ctx, of, teacher); err != nil {
			return err
		}
	}
	return nil
}

// pairSelect reads the scores of a trajectory's turns of students under the student and under a teacher.
const pairSelect = `SELECT st.logprobs, st.top_k, st.top_ids, st.top_logprobs, te.logprobs, te.top_k, te.top_ids, te.top_logprobs
	FROM turns tu
	JOIN scores st ON (st.trajectory_id, st.attempt, st.t, st.policy_id) = (tu.trajectory_id, tu.attempt, tu.t, tu.executor_policy_id) AND st.reason IS NULL
	JOIN scores te ON (te.trajectory_id, te.attempt, te.t, te.policy_id) = (tu.trajectory_id, tu.attempt, tu.t, $3) AND te.reason IS NULL
	WHERE tu.trajectory_id = $1 AND tu.attempt = $2 AND tu.executor = 'student' ORDER BY tu.t`

// sumDivergence sums the scores of a trajectory, one turn at a time. The number of its scores was read
// before, so scores that come meanwhile only make it be summed again.
func (s *Store) sumDivergence(ctx context.Context, of scoredTrajectory, teacher relabel.ID) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		var k stats.KL
		var pair [2]storedScore
		turns := 0
		rows, _ := tx.Query(ctx, pairSelect, of.ID, of.Trail, teacher)
		_, err := pgx.ForEachRow(rows, append(pair[0].fields(), pair[1].fields()...), func() error {
			turns++
			addPair(&k, pair[0].score(), pair[1].score())
			return nil
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO divergence_sums (trajectory_id, teacher_id, attempt, received, turns, tokens, impossible, k1, k3, top_tokens, top)
			SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM trajectories WHERE id = $1 FOR KEY SHARE
			ON CONFLICT (trajectory_id, teacher_id) DO UPDATE SET attempt = excluded.attempt, received = excluded.received, turns = excluded.turns,
				tokens = excluded.tokens, impossible = excluded.impossible, k1 = excluded.k1, k3 = excluded.k3, top_tokens = excluded.top_tokens, top = excluded.top`,
			of.ID, teacher, of.Trail, of.Received, turns, k.Tokens, k.Impossible, k.K1, k.K3, k.TopTokens, k.Top)
		return err
	})
}

// storedScore are the columns of a score in a pair.
type storedScore struct {
	logprobs, topIDs, topLogprobs []byte
	topK                          int
}

func (s *storedScore) fields() []any {
	return []any{&s.logprobs, &s.topK, &s.topIDs, &s.topLogprobs}
}

func (s *storedScore) score() relabel.Score {
	return relabel.Score{Logprobs: floatsOf(s.logprobs), TopK: s.topK, TopIDs: intsOf(s.topIDs), TopLogprobs: floatsOf(s.topLogprobs)}
}

// addPair adds the tokens of a turn. Both scores are of the same tokens.
func addPair(k *stats.KL, student, teacher relabel.Score) {
	for i := range min(len(student.Logprobs), len(teacher.Logprobs)) {
		if !k.Add(float64(student.Logprobs[i]), float64(teacher.Logprobs[i])) || student.TopK == 0 || teacher.TopK == 0 {
			continue
		}
		own, ownLogprobs := student.Top(i)
		theirs, theirLogprobs := teacher.Top(i)
		k.AddTop(stats.LumpedKL(own, ownLogprobs, theirs, theirLogprobs))
	}
}
