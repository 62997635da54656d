package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// listenLimit bounds the opening of a listening connection.
const listenLimit = 10 * time.Second

// ListenEvents calls heard when events may have been committed, on a connection of its
// own, until ctx ends or the line is lost; heard must not block. It says nothing about
// what came before, nor about what a lost line kept from it: look after it was called for
// the first time, which it is when it listens, and now and then.
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
	// Held while it listens: see announce_events.
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
