package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestARunIsDeletedWholeAndNotWhileItIsAtWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d, other := storetest.Seed(t, s, 3), storetest.Seed(t, s, 2)
	used(t, s, d.Trajectories[0].ID, d.Teacher.ID, 100, 10, 1500)
	had, err := s.CountRun(ctx, d.Run.ID)
	must(t, err)
	if had.Iterations != 1 || had.Trajectories != 3 || had.Calls != 1 || had.Refused == "" {
		t.Errorf("it has %+v", had)
	}
	wantCode(t, s.DeleteIdleRun(ctx, d.Run.ID), relabel.CodeConflict)
	if _, err := s.CancelRun(ctx, d.Run.ID); err != nil {
		t.Fatal(err)
	}
	if had, err = s.CountRun(ctx, d.Run.ID); err != nil || had.Refused != "" {
		t.Errorf("cancelled: %+v, %v", had, err)
	}
	must(t, s.DeleteIdleRun(ctx, d.Run.ID))
	wantCode(t, s.DeleteIdleRun(ctx, d.Run.ID), relabel.CodeNotFound)
	_, err = s.CountRun(ctx, d.Run.ID)
	wantCode(t, err, relabel.CodeNotFound)
	for _, table := range []string{"iterations", "trajectories", "events", "spend"} {
		var left int
		must(t, s.Pool().QueryRow(ctx, "SELECT count(*) FROM "+table+" WHERE run_id = $1", d.Run.ID).Scan(&left))
		if left > 0 {
			t.Errorf("%d rows of %s are left", left, table)
		}
	}
	if kept, err := s.CountRun(ctx, other.Run.ID); err != nil || kept.Trajectories != 2 {
		t.Errorf("another run has %+v, %v", kept, err)
	}
}
