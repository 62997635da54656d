package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

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
