package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"relabel/store/storetest"
)

func TestOldRowsArePurgedInBoundedTransactions(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	exec(t, s, "DELETE FROM events")
	const old = " FROM generate_series(1, 12002) n"
	const age = "now() - CASE WHEN n <= 12000 THEN interval '2 days' ELSE interval '0' END"
	exec(t, s, "INSERT INTO events (subject, run_id, state, at) SELECT 'run', $1, 'paused', "+age+old, d.Run.ID)
	exec(t, s, "INSERT INTO idempotency_keys (key, route, body_hash, claim, since) SELECT n::text, '', '', gen_random_uuid(), "+age+old)
	exec(t, s, "INSERT INTO audit (id, actor, operation, created_at) SELECT gen_random_uuid(), 'local', 'o', "+age+old)
	exec(t, s, `INSERT INTO calls (id, policy_id, attempt, t, purpose, started_at, millis, queue_millis, base_url, hedged, tries, status, finish_reason, model, error)
		SELECT gen_random_uuid(), $1, 1, 1, 'probe', `+age+", 0, 0, '', false, 1, 200, '', '', ''"+old, d.Teacher.ID)
	most := watchDeletes(t, s, "events", "idempotency_keys", "audit", "calls")
	for table, purge := range map[string]func(context.Context, time.Duration) (int64, error){
		"events": s.PurgeEvents, "idempotency_keys": s.PurgeIdempotent, "audit": s.PurgeAudit, "calls": s.PurgeCalls,
	} {
		purged, err := purge(ctx, 24*time.Hour)
		must(t, err)
		if n := most(table); purged != 12000 || n != 5000 {
			t.Errorf("%s: %d were purged, at most %d in one transaction", table, purged, n)
		}
		if n := value[int](t, s, "SELECT count(*) FROM "+table); n != 2 {
			t.Errorf("%s: %d are left", table, n)
		}
	}
}

func TestAPurgeThatIsStoppedKeepsWhatItDid(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	exec(t, s, "INSERT INTO events (subject, run_id, state, at) SELECT 'run', $1, 'paused', now() - interval '2 days' FROM generate_series(1, 6000)", d.Run.ID)
	_, err := s.PublishEvents(ctx)
	must(t, err)
	exec(t, s, "UPDATE events SET at = now() - interval '2 days'")
	gate, err := s.Pool().Begin(ctx)
	must(t, err)
	_, err = gate.Exec(ctx, "SELECT FROM events WHERE number = 5500 FOR UPDATE")
	must(t, err)
	stopped, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	var purged int64
	go func() {
		n, err := s.PurgeEvents(stopped, 24*time.Hour)
		purged = n
		ended <- err
	}()
	blocked(t, s, gate, 1)
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) || purged != 5000 {
		t.Errorf("it was stopped after %d with %v", purged, err)
	}
	must(t, gate.Rollback(ctx))
	if first := value[int](t, s, "SELECT min(number) FROM events"); first != 5001 {
		t.Errorf("the first event that is left has the number %d", first)
	}
}
