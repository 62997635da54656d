package worker

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

const (
	retentionPeriod = time.Hour // between two purges
	// keepIdempotencyKeys is how long an Idempotency-Key is kept. Webhook deliveries, whose
	// ids trainers use as keys, arrive for a day, and again when they are resent by hand.
	keepIdempotencyKeys = 7 * 24 * time.Hour
)

// RetentionStore deletes rows that are older than keep and returns how many.
type RetentionStore interface {
	PurgeEvents(ctx context.Context, keep time.Duration) (purged int64, err error)
	PurgeIdempotent(ctx context.Context, keep time.Duration) (purged int64, err error)
	PurgeCalls(ctx context.Context, keep time.Duration) (purged int64, err error)
	PurgeAudit(ctx context.Context, keep time.Duration) (purged int64, err error)
}

// RetentionConfig is what a Retention needs. A time of 0 keeps rows for ever.
type RetentionConfig struct {
	Store                 RetentionStore
	Events, Calls, Audits time.Duration
	Log                   zerolog.Logger
}

// Retention deletes rows that are older than their retention time.
type Retention struct {
	RetentionConfig
	periodic
}

// NewRetention returns a Retention.
func NewRetention(c RetentionConfig) (*Retention, error) {
	r := &Retention{RetentionConfig: c}
	r.periodic = periodic{Task: Task{Period: retentionPeriod, Run: r.RunNow, Log: c.Log}}
	return r, require("retention", requirement{"Store", c.Store != nil}, requirement{"Events", c.Events >= 0},
		requirement{"Calls", c.Calls >= 0}, requirement{"Audits", c.Audits >= 0})
}

// RunNow purges each kind of rows once and logs how many were deleted. A failed kind is
// logged and does not stop the others.
func (r *Retention) RunNow(ctx context.Context) error {
	r.purge(ctx, "events", r.Events, r.Store.PurgeEvents)
	r.purge(ctx, "idempotency keys", keepIdempotencyKeys, r.Store.PurgeIdempotent)
	r.purge(ctx, "model calls", r.Calls, r.Store.PurgeCalls)
	r.purge(ctx, "audit entries", r.Audits, r.Store.PurgeAudit)
	return nil
}

func (r *Retention) purge(ctx context.Context, kind string, keep time.Duration, purge func(context.Context, time.Duration) (int64, error)) {
	if keep == 0 || ctx.Err() != nil {
		return
	}
	began := time.Now()
	rows, err := purge(ctx, keep)
	if rows > 0 {
		r.Log.Info().Str("kind", kind).Int64("rows", rows).Dur("took", time.Since(began)).Msg("purged old rows")
	}
	if err != nil && ctx.Err() == nil {
		r.Log.Error().Err(err).Str("kind", kind).Msg("purging old rows failed")
	}
}
