package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

const (
	purgePeriod = time.Hour // between two looks for what is too old
	// keepKeys is how long an Idempotency-Key is remembered: deliveries, whose ids are keys of
	// what trainers post, come over a day, and again by hand.
	keepKeys = 7 * 24 * time.Hour
)

// retentionFlags say how long a working process keeps what only grows.
type retentionFlags struct {
	KeepEvents time.Duration `default:"720h" env:"RELABEL_KEEP_EVENTS" help:"How long events are kept for those who follow them."`
	KeepCalls  time.Duration `default:"0" env:"RELABEL_KEEP_CALLS" help:"How long single model calls are kept; what they used stays counted. 0: for ever."`
	KeepAudit  time.Duration `default:"8760h" env:"RELABEL_KEEP_AUDIT" help:"How long the audit log is kept. 0: for ever."`
}

// check refuses times that are too short to be meant.
func (f retentionFlags) check() error {
	for _, c := range []struct {
		flag    string
		keep    time.Duration
		forever bool
	}{{"--keep-events", f.KeepEvents, false}, {"--keep-calls", f.KeepCalls, true}, {"--keep-audit", f.KeepAudit, true}} {
		if c.keep < time.Minute && !(c.forever && c.keep == 0) {
			return relabel.Errorf(relabel.CodeInvalid, "is %s; it must be at least a minute", c.keep).On(c.flag)
		}
	}
	return nil
}

// purgeLoop deletes, once an hour, what is older than it is to be kept.
func (w *work) purgeLoop(ctx context.Context, keep retentionFlags) {
	tick := time.NewTicker(purgePeriod)
	defer tick.Stop()
	for {
		purge(ctx, w.db, keep, w.log)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// purge deletes what is too old, kind by kind, and logs how many rows of each were deleted.
// It stops with ctx.
func purge(ctx context.Context, db *database, keep retentionFlags, log zerolog.Logger) {
	for _, kind := range []struct {
		what  string
		keep  time.Duration // 0: for ever
		purge func(context.Context, time.Duration) (int64, error)
	}{
		{"events", keep.KeepEvents, db.PurgeEvents},
		{"idempotency keys", keepKeys, db.PurgeIdempotent},
		{"model calls", keep.KeepCalls, db.PurgeCalls},
		{"audit entries", keep.KeepAudit, db.PurgeAudit},
	} {
		if kind.keep == 0 || ctx.Err() != nil {
			continue
		}
		began := time.Now()
		rows, err := kind.purge(ctx, kind.keep)
		if rows > 0 {
			log.Info().Str("kind", kind.what).Int64("rows", rows).Dur("took", time.Since(began)).Msg("purged old rows")
		}
		if err != nil && ctx.Err() == nil {
			log.Error().Err(err).Str("kind", kind.what).Msg("purging old rows failed")
		}
	}
}
