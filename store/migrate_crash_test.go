package store_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"relabel/store/storetest"
)

// A process that dies in the middle of migration 22 leaves version 21 as it was, and the next
// start migrates. Migration 22 rewrites actions before it needs the lock on trajectories.
func TestADeathDuringAMigrationLeavesTheVersionBefore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	s := storetest.Open(t, storetest.Dumped(t, 21))
	counts := rowCounts(t, s)
	const old = "SELECT string_agg(status || labels_had, ',' ORDER BY a::text) FROM actions a JOIN trajectories tr ON tr.id = a.trajectory_id"
	before := value[string](t, s, old)
	lock, err := s.Pool().Begin(ctx)
	must(t, err)
	defer func() { _ = lock.Rollback(ctx) }() // it ends below, unless the test fails first
	_, err = lock.Exec(ctx, "LOCK TABLE trajectories IN ACCESS SHARE MODE")
	must(t, err)

	migrated := make(chan error, 1)
	go func() { migrated <- s.Migrate(ctx) }()
	const kill = `SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = 'trajectories'::regclass`
	for value[int](t, s, kill) == 0 {
		select {
		case err := <-migrated:
			t.Fatalf("the migration did not wait for the lock: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := <-migrated; err == nil {
		t.Error("a migration without its connection succeeded")
	}
	must(t, lock.Rollback(ctx))
	if v := value[int](t, s, "SELECT version FROM relabel_schema_version"); v != 21 {
		t.Errorf("the version is %d, not 21", v)
	}
	if n := value[int](t, s, "SELECT count(*) FROM relabel_schema_texts"); n != 21 {
		t.Errorf("%d migrations have a stored hash, not 21", n)
	}
	if after := value[string](t, s, old); after != before {
		t.Error("actions or trajectories changed")
	}
	must(t, s.Migrate(ctx))
	if after := rowCounts(t, s); !maps.Equal(of(counts, after), counts) {
		t.Errorf("rows %v, not %v", after, counts)
	}
	if n := value[int](t, s, "SELECT count(*) FROM actions WHERE status IN ('had', 'owed')"); n != 0 {
		t.Errorf("%d actions have an old status", n)
	}
}
