package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// purgeBatch bounds how many rows are purged in one transaction.
const purgeBatch = 5_000

// purgeInBatches executes a statement that deletes at most $1 rows, a transaction each time,
// until it finds fewer, and counts the rows. What was deleted before ctx ends stays deleted.
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
