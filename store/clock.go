package store

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock tells Postgres's time by this machine's clock and what lies between the two. The
// queue puts jobs off until a time that it compares with Postgres's.
type Clock struct{ ahead atomic.Int64 }

// Now returns Postgres's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// NowOrNil returns nil: where Postgres may fill in the time itself, it does.
func (c *Clock) NowOrNil() *time.Time { return nil }

// Clock is the one that ReadClock sets.
func (s *Store) Clock() *Clock { return &s.clock }

// ReadClock asks Postgres for its time. Call it now and then: clocks drift.
func (s *Store) ReadClock(ctx context.Context) error {
	var there time.Time
	if err := s.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return classify(err)
	}
	s.clock.ahead.Store(int64(time.Until(there)))
	return nil
}
