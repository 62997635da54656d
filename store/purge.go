package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// purgeBatch bounds the rows that one transaction purges.
const purgeBatch = 5_000

// purgeInBatches repeats a statement that deletes at most $1 rows, in a transaction each, until
// it deletes fewer, and counts the rows. Committed deletions stay when ctx ends.
func (s *Store) purgeInBatches(ctx context.Context, statement string, args ...any) (purged int64, err error) {
	for deleted := int64(purgeBatch); deleted == purgeBatch; purged += deleted {
		err := s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) error {
			tag, err := tx.Exec(ctx, statement, append([]any{purgeBatch}, args...)...)
			deleted = tag.RowsAffected()
			return err
		})
		if err != nil {
			return purged, err
		}
	}
	return purged, nil
}
