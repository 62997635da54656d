package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"relabel"
)

// publishBatch bounds the events that one transaction numbers.
const publishBatch = 10_000

// PublishEvents numbers every committed event and returns the last number. Events that commit
// later get larger numbers, so that a reader in the order of numbers skips none.
func (s *Store) PublishEvents(ctx context.Context) (last int64, err error) {
	for given := int64(1); given > 0; {
		var waiting bool
		err := s.pool.QueryRow(ctx, `SELECT en.last, EXISTS (SELECT 1 FROM events WHERE number IS NULL) FROM event_numbers en`).Scan(&last, &waiting)
		if err != nil || !waiting {
			return last, classify(err)
		}
		err = s.retryTx(ctx, failOnUnclear, func(tx pgx.Tx, _ bool) (err error) {
			given, err = publishSome(ctx, tx)
			return err
		})
		if err != nil {
			return last, err
		}
	}
	return last, nil // what still waits is being deleted with its run
}

// publishSome numbers the next batch. It takes the lock first, so that the next statement sees
// all numbers of earlier batches.
func publishSome(ctx context.Context, tx pgx.Tx) (given int64, err error) {
	last, err := readValue[int64](ctx, tx, "SELECT last FROM event_numbers FOR UPDATE")
	if err != nil {
		return 0, err
	}
	tag, err := tx.Exec(ctx, `UPDATE events e SET number = $1 + n.row FROM (
			SELECT id, row_number() OVER (ORDER BY id) AS row FROM (
				SELECT id FROM events WHERE number IS NULL ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) waiting) n
		WHERE e.id = n.id`, last, publishBatch)
	if err != nil {
		return 0, err
	}
	_, err = tx.Exec(ctx, "UPDATE event_numbers SET last = last + $1", tag.RowsAffected())
	return tag.RowsAffected(), err
}

// ListEvents lists at most limit published events of a scope with numbers above after, in
// order.
func (s *Store) ListEvents(ctx context.Context, scope relabel.EventScope, after int64, limit int) ([]relabel.Event, error) {
	where, of := "$1::uuid IS NOT NULL", scope.RunID
	switch {
	case scope.TrajectoryID != relabel.ID{}:
		where, of = "trajectory_id = $1", scope.TrajectoryID
	case scope.IterationID != relabel.ID{}:
		where, of = "iteration_id = $1", scope.IterationID
	case scope.RunID != relabel.ID{}:
		where = "run_id = $1"
	}
	return listAll[relabel.Event](ctx, s,
		`SELECT number, at, subject, run_id, iteration_id, trajectory_id, export_id, state FROM events
		WHERE `+where+` AND number > $2 ORDER BY number LIMIT $3`, of, after, limit)
}

// KeepsEvents reports whether every event after this number is still stored: an event has the
// number, or it is the last number.
func (s *Store) KeepsEvents(ctx context.Context, number int64) (kept bool, err error) {
	err = s.pool.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM events WHERE number = $1) OR EXISTS (SELECT 1 FROM event_numbers WHERE last = $1)", number).Scan(&kept)
	return kept, classify(err)
}

// PurgeEvents deletes events older than keep, in the order of numbers, so that the rest has no
// gap even if ctx ends early. It returns their number.
func (s *Store) PurgeEvents(ctx context.Context, keep time.Duration) (purged int64, err error) {
	if _, err := s.PublishEvents(ctx); err != nil {
		return 0, err
	}
	var kept int64 // the first number that is kept
	err = s.pool.QueryRow(ctx, `SELECT coalesce((SELECT min(number) FROM events WHERE at >= clock_timestamp() - $1::interval),
		(SELECT last + 1 FROM event_numbers))`, keep).Scan(&kept)
	if err != nil {
		return 0, classify(err)
	}
	return s.purgeInBatches(ctx, `DELETE FROM events WHERE number IN (SELECT number FROM events
		WHERE number < $2 ORDER BY number LIMIT $1)`, kept)
}

// listenLimit bounds the opening of a listening connection.
const listenLimit = 10 * time.Second

// ListenEvents calls heard when events may have been committed, on its own connection, until
// ctx ends or the connection is lost; heard must not block. It does not report earlier events:
// read them after the first call, which means that it listens, and periodically.
func (s *Store) ListenEvents(ctx context.Context, heard func()) error {
	opening, cancel := context.WithTimeout(ctx, listenLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(opening, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return classify(err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
		defer cancel()
		_ = conn.Close(closing) // nothing is lost with it
	}()
	if _, err := conn.Exec(opening, "LISTEN relabel_events"); err != nil {
		return classify(err)
	}
	// The lock is held while it listens: see announce_events.
	if _, err := conn.Exec(opening, "SELECT pg_advisory_lock_shared(hashtextextended('listeners of ' || current_schema(), 0))"); err != nil {
		return classify(err)
	}
	for heard(); ; {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return classify(err)
		}
		if n.Payload == s.schema {
			heard()
		}
	}
}
