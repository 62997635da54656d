package store_test

import (
	"context"
	"strings"
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
	wantCode(t, s.BeginDeletion(ctx, d.Run.ID), relabel.CodeConflict)
	if _, err := s.CancelRun(ctx, d.Run.ID); err != nil {
		t.Fatal(err)
	}
	if had, err = s.CountRun(ctx, d.Run.ID); err != nil || had.Refused != "" {
		t.Errorf("cancelled: %+v, %v", had, err)
	}
	for _, table := range []string{"relabelings (id, trajectory_id, policy_id, attempt, turns, pending)", "regradings (id, trajectory_id)"} {
		name, _, _ := strings.Cut(table, " ")
		values := map[string]string{"relabelings": "$1, $2, $3, 1, 1, 1", "regradings": "$1, $2"}[name]
		args := []any{relabel.NewID(), d.Trajectories[0].ID, other.Teacher.ID}[:strings.Count(values, "$")]
		_, err := s.Pool().Exec(ctx, "INSERT INTO "+table+" VALUES ("+values+")", args...)
		must(t, err)
		ends := map[string]string{"relabelings": "`relabel run relabel RUN --teacher teacher@", "regradings": "`relabel run verify RUN --cancel`"}[name]
		if had, err = s.CountRun(ctx, d.Run.ID); err != nil || !strings.Contains(had.Refused, ends) {
			t.Errorf("with %s: %+v, %v", name, had, err)
		}
		wantCode(t, s.BeginDeletion(ctx, d.Run.ID), relabel.CodeConflict)
		_, err = s.Pool().Exec(ctx, "UPDATE "+name+" SET state = 'cancelled', ended_at = clock_timestamp()")
		must(t, err)
	}
	must(t, s.BeginDeletion(ctx, d.Run.ID))
	must(t, s.FinishDeletion(ctx, d.Run.ID))
	wantCode(t, s.BeginDeletion(ctx, d.Run.ID), relabel.CodeNotFound)
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
