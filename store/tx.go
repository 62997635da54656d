package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"relabel"
)

// Pauses between tries: 50 ms, doubled up to 3.2 s, which bridges a restart of Postgres
// (6.4 s in all) and stays far below a lease.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 3200 * time.Millisecond
	undoLimit  = 5 * time.Second
)

// write runs fn in a transaction and tries again what certainly did not happen: no
// connection, a deadlock, a server that restarts. After an unclear commit (the line was
// lost before the answer came) it does not: for claims of relabelings and batches, whose
// lease then runs out, and for what is done again by itself.
func (s *Store) write(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.try(ctx, false, func(tx pgx.Tx, _ bool) error { return fn(tx) })
}

// settle is write for what can be recognised by its key: it also tries again after an
// unclear commit. fn is then told that the change may already be there.
func (s *Store) settle(ctx context.Context, fn func(tx pgx.Tx, again bool) error) error {
	return s.try(ctx, true, fn)
}

// create is settle for what makes rows with an id of their own: after an unclear commit
// one that is there in the table was made by the try before.
func (s *Store) create(ctx context.Context, table string, id relabel.ID, fn func(tx pgx.Tx) error) error {
	return s.settle(ctx, func(tx pgx.Tx, again bool) error {
		if again {
			if done, err := exists(ctx, tx, table, id); done || err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// change is settle for what comes to the same if it is made twice.
func (s *Store) change(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return s.settle(ctx, func(tx pgx.Tx, _ bool) error { return fn(tx) })
}

func exists(ctx context.Context, tx pgx.Tx, table string, id relabel.ID) (yes bool, err error) {
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+table+" WHERE id = $1)", id).Scan(&yes)
	return yes, err
}

// settleAtOnce is settle for statements that need no answer of each other: they go over
// the line together, as one transaction, and cost one way there and back.
func (s *Store) settleAtOnce(ctx context.Context, queue func(b *pgx.Batch)) error {
	return s.persist(ctx, true, func(bool) (unclear bool, err error) {
		b := &pgx.Batch{}
		queue(b)
		return false, s.pool.SendBatch(ctx, b).Close()
	})
}

func (s *Store) try(ctx context.Context, settles bool, fn func(tx pgx.Tx, again bool) error) error {
	return s.persist(ctx, settles, func(again bool) (unclear bool, err error) { return s.once(ctx, again, fn) })
}

func (s *Store) persist(ctx context.Context, settles bool, once func(again bool) (unclear bool, err error)) error {
	again := false
	for pause := firstPause; ; pause *= 2 {
		unclear, err := once(again)
		if err == nil || ctx.Err() != nil || !passing(err) || pause > lastPause || unclear && !settles {
			return classify(err)
		}
		again = again || unclear
		select {
		case <-ctx.Done():
			return classify(err)
		case <-time.After(pause):
		}
	}
}

// once runs fn in one transaction. unclear says that nobody knows whether it committed.
// READ COMMITTED, whatever the database's default is: a fenced write that waited for a
// lock judges the row as it is then.
func (s *Store) once(ctx context.Context, again bool, fn func(tx pgx.Tx, again bool) error) (unclear bool, err error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return false, err
	}
	defer func() { // also when fn panics; after a commit there is nothing to undo
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		_ = tx.Rollback(undo) // a line that is broken rolls back by itself
	}()
	if err := fn(tx, again); err != nil {
		return false, err
	}
	err = tx.Commit(ctx)
	var pg *pgconn.PgError
	refused := errors.As(err, &pg) && !shutDown(pg) || errors.Is(err, pgx.ErrTxCommitRollback)
	return err != nil && !refused, err
}
