package store_test

import (
	"context"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

// TestAWriterThatIsStuckHoldsNobodyUp stops in the middle of a transaction that has the
// trajectory's lock, as a stopped process or a machine that is gone does. The trajectory
// is taken over all the same.
func TestAWriterThatIsStuckHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	database := storetest.Schema(t)
	s := storetest.Open(t, database)
	must(t, s.Migrate(ctx))
	if limit := value[string](t, s, "SHOW idle_in_transaction_session_timeout"); limit != "10s" {
		t.Errorf("a transaction may be idle for %s", limit)
	}
	d := storetest.Seed(t, s, 1)
	stuck := storetest.Open(t, database+"&idle_in_transaction_session_timeout=300ms")
	c := storetest.Claim(t, stuck, d.Trajectories[0].ID, "stuck")
	tx, err := stuck.Pool().Begin(ctx)
	must(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, "UPDATE trajectories SET lease_until = lease_until WHERE id = $1", c.TrajectoryID)
	must(t, err)
	if _, err := s.RecoverAbandoned(ctx, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ClaimNext(ctx, "other", relabel.Repair, time.Minute); err == nil {
		t.Fatal("it was taken from under a transaction")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		recovered, err := s.RecoverAbandoned(ctx, func(string) bool { return true })
		must(t, err)
		if len(recovered) == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the stuck writer keeps it")
		}
	}
	if _, err := s.ClaimNext(ctx, "other", relabel.Repair, time.Minute); err != nil {
		t.Error(err)
	}
}
