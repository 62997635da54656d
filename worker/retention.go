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

// RetentionStore deletes rows that are older than keep, or over a size, and returns how many.
type RetentionStore interface {
	PurgeEvents(ctx context.Context, keep time.Duration) (purged int64, err error)
	PurgeIdempotent(ctx context.Context, keep time.Duration) (purged int64, err error)
	PurgeCalls(ctx context.Context, keep time.Duration) (purged int64, err error)
	PurgeAudit(ctx context.Context, keep time.Duration) (purged int64, err error)
	// PurgeCodeRecords deletes those used least recently until the rest has at most size bytes.
	PurgeCodeRecords(ctx context.Context, size int64) (purged int64, err error)
}

// RetentionConfig is what a Retention needs. A time or size of 0 keeps rows for ever.
type RetentionConfig struct {
	Store                 RetentionStore
	Events, Calls, Audits time.Duration
	CodeRecords           int64 // bytes
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
		requirement{"Calls", c.Calls >= 0}, requirement{"Audits", c.Audits >= 0},
		requirement{"CodeRecords", c.CodeRecords >= 0})
}

// RunNow purges each kind of rows once and logs how many were deleted. A failed kind is
// logged and does not stop the others.
func (r *Retention) RunNow(ctx context.Context) error {
	purge(ctx, r, "events", r.Events, r.Store.PurgeEvents)
	purge(ctx, r, "idempotency keys", keepIdempotencyKeys, r.Store.PurgeIdempotent)
	purge(ctx, r, "model calls", r.Calls, r.Store.PurgeCalls)
	purge(ctx, r, "audit entries", r.Audits, r.Store.PurgeAudit)
	purge(ctx, r, "code records", r.CodeRecords, r.Store.PurgeCodeRecords)
	return nil
}

// purge purges one kind of rows beyond a time or size.
func purge[T time.Duration | int64](ctx context.Context, r *Retention, kind string, limit T, do func(context.Context, T) (int64, error)) {
	if limit == 0 || ctx.Err() != nil {
		return
	}
	began := time.Now()
	rows, err := do(ctx, limit)
	if rows > 0 {
		r.Log.Info().Str("kind", kind).Int64("rows", rows).Dur("took", time.Since(began)).Msg("purged old rows")
	}
	if err != nil && ctx.Err() == nil {
		r.Log.Error().Err(err).Str("kind", kind).Msg("purging old rows failed")
	}
}
