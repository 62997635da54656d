package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
)

// Pauses between retries: 50 ms, doubled up to 3.2 s. They bridge a restart of Postgres (6.4 s
// in all), and are far shorter than a lease.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 3200 * time.Millisecond
	undoLimit  = 5 * time.Second
)

// txOptions says what retryTx does after an unclear commit: one whose answer was lost with
// the connection.
type txOptions struct {
	unclear bool   // retry; the function is told that its change may already be there
	table   string // with unclear: do nothing where this table has a row with the id
	id      relabel.ID
}

var (
	// failOnUnclear is for claims of relabelings and batches, whose leases then expire, and for
	// periodic tasks.
	failOnUnclear = txOptions{}
	// retryUnclear is for changes that are idempotent or can be recognised by a key.
	retryUnclear = txOptions{unclear: true}
)

// unlessCreated is for rows with a new id: after an unclear commit, an existing row was created
// by the previous try.
func unlessCreated(table string, id relabel.ID) txOptions {
	return txOptions{unclear: true, table: table, id: id}
}

// retryTx runs fn in a transaction and retries it after failures without an effect: no
// connection, a deadlock, a server restart. mayExist is true after an unclear commit.
func (s *Store) retryTx(ctx context.Context, o txOptions, fn func(tx pgx.Tx, mayExist bool) error) error {
	return s.retry(ctx, o.unclear, func(mayExist bool) (unclear bool, err error) {
		return s.inTx(ctx, func(tx pgx.Tx) error {
			if mayExist && o.table != "" {
				if done, err := exists(ctx, tx, o.table, o.id); done || err != nil {
					return err
				}
			}
			return fn(tx, mayExist)
		})
	})
}

// exec is retryTx of one idempotent statement.
func (s *Store) exec(ctx context.Context, sql string, args ...any) error {
	return s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		_, err := tx.Exec(ctx, sql, args...)
		return err
	})
}

// execCount is exec of a statement that changes nothing when it is repeated. It returns the
// number of changed rows.
func (s *Store) execCount(ctx context.Context, sql string, args ...any) (changed int, err error) {
	err = s.retryTx(ctx, retryUnclear, func(tx pgx.Tx, _ bool) error {
		tag, err := tx.Exec(ctx, sql, args...)
		changed = max(changed, int(tag.RowsAffected())) // a retry after an unclear commit changes none
		return err
	})
	return changed, err
}

// execOrElse executes a statement in a transaction. If it changes no row, the error is that
// of otherwise.
func execOrElse(ctx context.Context, tx pgx.Tx, otherwise func() error, sql string, args ...any) error {
	tag, err := tx.Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() == 0 {
		return otherwise()
	}
	return err
}

func exists(ctx context.Context, tx pgx.Tx, table string, id relabel.ID) (yes bool, err error) {
	return readValue[bool](ctx, tx, "SELECT EXISTS (SELECT 1 FROM "+table+" WHERE id = $1)", id)
}

// retryBatch is retryTx with retryUnclear for independent statements, which are sent as one
// transaction in one round trip.
func (s *Store) retryBatch(ctx context.Context, queue func(b *pgx.Batch)) error {
	return s.retry(ctx, true, func(bool) (unclear bool, err error) {
		b := &pgx.Batch{}
		queue(b)
		return false, s.pool.SendBatch(ctx, b).Close()
	})
}

// retry calls attempt until it succeeds, fails permanently or no pause is left.
func (s *Store) retry(ctx context.Context, retriesUnclear bool, attempt func(mayExist bool) (unclear bool, err error)) error {
	mayExist := false
	for pause := firstPause; ; pause *= 2 {
		unclear, err := attempt(mayExist)
		if err == nil || ctx.Err() != nil || !passing(err) || pause > lastPause || unclear && !retriesUnclear {
			return classify(err)
		}
		mayExist = mayExist || unclear
		select {
		case <-ctx.Done():
			return classify(err)
		case <-time.After(pause):
		}
	}
}

// inTx runs fn in one transaction. unclear means that the commit may or may not have happened.
// The isolation is READ COMMITTED, whatever the database's default, so that a fenced write that
// waited for a lock checks the row as it is then.
func (s *Store) inTx(ctx context.Context, fn func(tx pgx.Tx) error) (unclear bool, err error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, err
	}
	defer func() { // also when fn panics; after a commit there is nothing to undo
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		_ = tx.Rollback(undo) // a broken connection rolls back by itself
	}()
	if err := fn(tx); err != nil {
		return false, err
	}
	err = tx.Commit(ctx)
	var pg *pgconn.PgError
	refused := errors.As(err, &pg) && !shutDown(pg) || errors.Is(err, pgx.ErrTxCommitRollback)
	return err != nil && !refused, err
}

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
