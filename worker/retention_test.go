package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"relabel/worker"
)

// purges remembers what it was asked to purge. The purge of model calls fails.
type purges struct{ asked []string }

func (p *purges) ask(kind string, limit any) (int64, error) {
	p.asked = append(p.asked, fmt.Sprint(kind, " ", limit))
	return 1, nil
}

func (p *purges) PurgeEvents(_ context.Context, keep time.Duration) (int64, error) {
	return p.ask("events", keep)
}

func (p *purges) PurgeIdempotent(_ context.Context, keep time.Duration) (int64, error) {
	return p.ask("keys", keep)
}

func (p *purges) PurgeCalls(_ context.Context, keep time.Duration) (int64, error) {
	_, _ = p.ask("calls", keep)
	return 0, errors.New("broken")
}

func (p *purges) PurgeAudit(_ context.Context, keep time.Duration) (int64, error) {
	return p.ask("audit", keep)
}

func (p *purges) PurgeCodeRecords(_ context.Context, size int64) (int64, error) {
	return p.ask("code", size)
}

func TestEachKindIsPurgedBeyondItsTimeOrSize(t *testing.T) {
	for _, c := range []struct {
		config worker.RetentionConfig
		want   []string
	}{
		{worker.RetentionConfig{Events: time.Hour, Calls: 2 * time.Hour, Audits: 3 * time.Hour, CodeRecords: 1 << 20},
			[]string{"events 1h0m0s", "keys 168h0m0s", "calls 2h0m0s", "audit 3h0m0s", "code 1048576"}},
		{worker.RetentionConfig{Events: time.Hour}, []string{"events 1h0m0s", "keys 168h0m0s"}},
	} {
		store := &purges{}
		c.config.Store, c.config.Log = store, zerolog.Nop()
		r, err := worker.NewRetention(c.config)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.RunNow(context.Background()); err != nil || !slices.Equal(store.asked, c.want) {
			t.Errorf("%q, not %q, %v", store.asked, c.want, err)
		}
	}
	if _, err := worker.NewRetention(worker.RetentionConfig{Store: &purges{}, CodeRecords: -1}); err == nil {
		t.Error("a size below 0 is accepted")
	}
}
