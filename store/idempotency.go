package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// BeginIdempotent claims a key. It returns nil if the caller is the first, the stored answer if
// there is one, CodeIdempotency if the key was used with another route or body, and
// CodeConflict while the first request runs. A claim without an answer expires after ten
// minutes. A random mark recognises the caller's own claim after an unclear commit.
func (s *Store) BeginIdempotent(ctx context.Context, i relabel.Idempotent) (*relabel.Idempotent, error) {
	var earlier *relabel.Idempotent
	claim := relabel.NewID()
	err := s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		earlier = nil
		tag, err := tx.Exec(ctx, `INSERT INTO idempotency_keys AS k (key, route, body_hash, claim) VALUES ($1, $2, $3, $4)
			ON CONFLICT (key) DO UPDATE SET since = clock_timestamp(), route = excluded.route, body_hash = excluded.body_hash, claim = excluded.claim
			WHERE k.status = 0 AND (k.claim = excluded.claim OR k.since < clock_timestamp() - interval '10 minutes')`,
			i.Key, i.Route, i.BodyHash, claim)
		if err != nil || tag.RowsAffected() == 1 {
			return err
		}
		found, err := readOne[relabel.Idempotent](ctx, tx,
			"SELECT key, route, body_hash, status, answer FROM idempotency_keys WHERE key = $1", i.Key)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // freed between the two statements
			return relabel.Errorf(relabel.CodeConflict, "the first request with this key just ended without an answer; retry")
		case err != nil:
			return err
		case found.Route != i.Route || found.BodyHash != i.BodyHash:
			return relabel.Errorf(relabel.CodeIdempotency, "this Idempotency-Key was used with another request").On("Idempotency-Key")
		case found.Status == 0:
			return relabel.Errorf(relabel.CodeConflict, "the first request with this Idempotency-Key is still running").On("Idempotency-Key")
		}
		earlier = &found
		return nil
	})
	return earlier, err
}

// EndIdempotent stores the answer, or frees the key if i.Status is 0. An answered key keeps its
// answer.
func (s *Store) EndIdempotent(ctx context.Context, i relabel.Idempotent) error {
	if i.Status == 0 {
		return s.exec(ctx, "DELETE FROM idempotency_keys WHERE key = $1 AND status = 0", i.Key)
	}
	return s.exec(ctx, `UPDATE idempotency_keys SET status = $2, answer = coalesce($3, ''::bytea)
		WHERE key = $1 AND status = 0`, i.Key, i.Status, i.Answer)
}

// PurgeIdempotent deletes keys last used longer ago than keep.
func (s *Store) PurgeIdempotent(ctx context.Context, keep time.Duration) (purged int64, err error) {
	return s.purgeInBatches(ctx, `DELETE FROM idempotency_keys WHERE key IN (SELECT key FROM idempotency_keys
		WHERE since < clock_timestamp() - $2::interval ORDER BY since LIMIT $1)`, keep)
}
