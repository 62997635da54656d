package store

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// SettleScores stores the scores of turns of the fence's trajectory, received or missing. The same scores
// again change nothing, so that a write may be repeated.
func (s *Store) SettleScores(ctx context.Context, f relabel.ScoreFence, scores []relabel.Score) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		var trajectory, policy relabel.ID
		var attempt, topK int
		err := tx.QueryRow(ctx, "SELECT trajectory_id, attempt, policy_id, top_k FROM scorings WHERE"+jobFenced+"FOR NO KEY UPDATE",
			f.ScoringID, f.Claim, f.Owner).Scan(&trajectory, &attempt, &policy, &topK)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return ofScoring(f).lost()
		case err != nil:
			return err
		}
		received, missing, tokens := 0, 0, 0
		for _, score := range scores {
			if err := checkScore(score, policy, topK); err != nil {
				return err
			}
			added, err := insertScore(ctx, tx, trajectory, attempt, score)
			switch {
			case err != nil:
				return err
			case added && score.Reason != "":
				missing++
			case added:
				received++
				tokens += len(score.Logprobs)
			}
		}
		_, err = tx.Exec(ctx, "UPDATE scorings SET pending = pending - $2 - $3, received = received + $2, missing = missing + $3, tokens = tokens + $4 WHERE id = $1",
			f.ScoringID, received, missing, tokens)
		return err
	})
}

func checkScore(score relabel.Score, policy relabel.ID, topK int) error {
	switch {
	case score.PolicyID != policy:
		return relabel.Errorf(relabel.CodeInvalid, "the score is not of the requested policy").On("policy_id")
	case (score.Reason == "") != (len(score.Logprobs) > 0):
		return relabel.Errorf(relabel.CodeInvalid, "a score has either log-probabilities or a reason").On("logprobs")
	case score.Reason != "":
		return nil
	case score.TopK != topK, len(score.TopIDs) != topK*len(score.Logprobs), len(score.TopLogprobs) != len(score.TopIDs):
		return relabel.Errorf(relabel.CodeInvalid, "a score needs the %d most probable tokens at each token", topK).On("top_k")
	}
	return nil
}

// insertScore reports whether the score was new.
func insertScore(ctx context.Context, tx pgx.Tx, trajectory relabel.ID, attempt int, score relabel.Score) (bool, error) {
	var reason *string
	if score.Reason != "" {
		said := validUTF8(score.Reason)
		reason = &said
	}
	tag, err := tx.Exec(ctx, `INSERT INTO scores (trajectory_id, attempt, t, policy_id, reason, logprobs, top_k, top_ids, top_logprobs)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`, trajectory, attempt, score.T, score.PolicyID,
		reason, floatBytes(score.Logprobs), score.TopK, intBytes(score.TopIDs), floatBytes(score.TopLogprobs))
	return tag.RowsAffected() == 1, err
}

// ListScores returns a policy's scores of the turns of a trajectory, missing ones included, in order; none
// if it was not scored by the policy. CodeNotFound if there is no such trajectory.
func (s *Store) ListScores(ctx context.Context, trajectory, policy relabel.ID) ([]relabel.Score, error) {
	var scores []relabel.Score
	err := s.read(ctx, func(tx pgx.Tx) error {
		trail, err := readValue[int](ctx, tx, "SELECT trail FROM trajectories WHERE id = $1", trajectory)
		if err != nil {
			return notFound("trajectory", trajectory, err)
		}
		rows, _ := tx.Query(ctx, `SELECT t, policy_id, coalesce(reason, ''), logprobs, top_k, top_ids, top_logprobs FROM scores
			WHERE trajectory_id = $1 AND attempt = $2 AND policy_id = $3 ORDER BY t`, trajectory, trail, policy)
		scores, err = pgx.CollectRows(rows, scanScore)
		return err
	})
	return scores, err
}

func scanScore(row pgx.CollectableRow) (score relabel.Score, err error) {
	var logprobs, topIDs, topLogprobs []byte
	err = row.Scan(&score.T, &score.PolicyID, &score.Reason, &logprobs, &score.TopK, &topIDs, &topLogprobs)
	score.Logprobs, score.TopIDs, score.TopLogprobs = floatsOf(logprobs), intsOf(topIDs), floatsOf(topLogprobs)
	return score, err
}

// floatBytes are float32 in little-endian order; nil for none.
func floatBytes(values []float32) []byte {
	var bytes []byte
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(v))
	}
	return bytes
}

func floatsOf(bytes []byte) []float32 {
	var values []float32
	for ; len(bytes) > 0; bytes = bytes[4:] {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(bytes)))
	}
	return values
}

// intBytes are int32 in little-endian order; nil for none.
func intBytes(values []int32) []byte {
	var bytes []byte
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint32(bytes, uint32(v))
	}
	return bytes
}

func intsOf(bytes []byte) []int32 {
	var values []int32
	for ; len(bytes) > 0; bytes = bytes[4:] {
		values = append(values, int32(binary.LittleEndian.Uint32(bytes)))
	}
	return values
}
