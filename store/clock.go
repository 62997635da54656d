package store

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock computes Postgres's time from this machine's clock and their difference. The queue
// compares the times of scheduled jobs with Postgres's clock.
type Clock struct{ ahead atomic.Int64 }

// Now returns Postgres's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// NowOrNil returns nil, so that Postgres fills in the time.
func (c *Clock) NowOrNil() *time.Time { return nil }

// Clock is the one that ReadClock sets.
func (s *Store) Clock() *Clock { return &s.clock }

// ReadClock reads Postgres's time. Call it periodically: clocks drift.
func (s *Store) ReadClock(ctx context.Context) error {
	var there time.Time
	if err := s.pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return classify(err)
	}
	s.clock.ahead.Store(int64(time.Until(there)))
	return nil
}
