package store_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode fails the test unless err has the code.
func wantCode(t testing.TB, err error, code relabel.Code) {
	t.Helper()
	if relabel.CodeOf(err) != code {
		t.Fatalf("error %v has code %q, not %q", err, relabel.CodeOf(err), code)
	}
}

// exec runs SQL behind the store's back.
func exec(t testing.TB, s *store.Store, sql string, args ...any) {
	t.Helper()
	_, err := s.Pool().Exec(context.Background(), sql, args...)
	must(t, err)
}

// value reads one value behind the store's back.
func value[T any](t testing.TB, s *store.Store, sql string, args ...any) T {
	t.Helper()
	rows, _ := s.Pool().Query(context.Background(), sql, args...)
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	must(t, err)
	return v
}

// rolloutTables hold what rollouts write.
var rolloutTables = []string{"trajectories", "attempts", "turns", "actions", "observations", "calls", "verdicts", "events", "iterations"}

// fingerprint says what the tables hold, to the last byte.
func fingerprint(t testing.TB, s *store.Store, tables ...string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, table := range tables {
		sums[table] = value[string](t, s, "SELECT coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), 'empty') FROM "+table+" r")
	}
	return sums
}

// expire ends a trajectory's lease now.
func expire(t testing.TB, s *store.Store, id relabel.ID) {
	t.Helper()
	exec(t, s, "UPDATE trajectories SET lease_until = clock_timestamp() - interval '1 second' WHERE id = $1", id)
}

// renew renews one fence's lease; CodeLeaseLost if it does not hold.
func renew(s *store.Store, f relabel.Fence) error {
	renewed, err := s.Renew(context.Background(), []relabel.Fence{f}, storetest.Lease)
	if err == nil && !renewed[0] {
		return relabel.Errorf(relabel.CodeLeaseLost, "it was not renewed")
	}
	return err
}

// wakeups counts the wake-ups that wait.
func wakeups(t testing.TB, s *store.Store) int {
	t.Helper()
	return value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'rollout' AND state IN ('available', 'pending', 'retryable', 'scheduled')")
}
