package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// deleteRun cancels what of a run is at work and deletes it.
func deleteRun(t *testing.T, s *store.Store, run relabel.ID) {
	t.Helper()
	ctx := context.Background()
	_, err := s.CancelRun(ctx, run)
	must(t, err)
	must(t, s.BeginDeletion(ctx, run))
	must(t, s.FinishDeletion(ctx, run))
}

// removeRun removes a run under the workers that are at it.
func removeRun(t *testing.T, s *store.Store, run relabel.ID) {
	t.Helper()
	_, err := s.Pool().Exec(context.Background(), "DELETE FROM runs WHERE id = $1", run)
	must(t, err)
}

// idle seeds a run of n trajectories that are cancelled.
func idle(t *testing.T, s *store.Store, n int) storetest.Seeded {
	t.Helper()
	d := storetest.Seed(t, s, n)
	_, err := s.CancelRun(context.Background(), d.Run.ID)
	must(t, err)
	return d
}

func TestADeletionThatIsInterruptedIsFinishedLater(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d, other := idle(t, s, 50), idle(t, s, 2)
	must(t, s.BeginDeletion(ctx, d.Run.ID))
	must(t, s.BeginDeletion(ctx, d.Run.ID)) // twice is once

	// The last batch waits for a locked row; the server is stopped there.
	last := value[relabel.ID](t, s, "SELECT id FROM trajectories WHERE run_id = $1 ORDER BY created_at, id LIMIT 1", d.Run.ID)
	held, err := s.Pool().Begin(ctx)
	must(t, err)
	_, err = held.Exec(ctx, "SELECT FROM trajectories WHERE id = $1 FOR UPDATE", last)
	must(t, err)
	stopped, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.FinishDeletion(stopped, d.Run.ID) }()
	wait(t, "two batches", func() bool {
		return value[int](t, s, "SELECT count(*) FROM trajectories WHERE run_id = $1", d.Run.ID) == 10
	})
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	must(t, held.Rollback(ctx))
	run, err := s.FindRun(ctx, d.Run.ID)
	must(t, err)
	left, err := s.CountRun(ctx, d.Run.ID)
	must(t, err)
	if run.DeletingAt == nil || !left.Deleting || left.Trajectories != 10 {
		t.Errorf("half deleted, the run is deleted since %v and has %+v", run.DeletingAt, left)
	}

	var work sync.WaitGroup // two servers that start
	for range 2 {
		work.Go(func() {
			if err := s.FinishDeletions(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	_, err = s.FindRun(ctx, d.Run.ID)
	wantCode(t, err, relabel.CodeNotFound)
	for _, table := range []string{"iterations", "trajectories", "events"} {
		if n := value[int](t, s, "SELECT count(*) FROM "+table+" WHERE run_id = $1", d.Run.ID); n > 0 {
			t.Errorf("%d rows of %s are left", n, table)
		}
	}
	if kept, err := s.CountRun(ctx, other.Run.ID); err != nil || kept.Trajectories != 2 {
		t.Errorf("another run has %+v, %v", kept, err)
	}
}

func TestADeletionThatFailsKeepsNoOtherFromItsEnd(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	broken, other := idle(t, s, 1), idle(t, s, 1)
	must(t, s.BeginDeletion(ctx, broken.Run.ID))
	must(t, s.BeginDeletion(ctx, other.Run.ID))
	_, err := s.Pool().Exec(ctx, `CREATE FUNCTION refuse_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF OLD.run_id = '`+broken.Run.ID.String()+`' THEN RAISE EXCEPTION 'refused'; END IF; RETURN OLD; END $$;
		CREATE TRIGGER refuse_run BEFORE DELETE ON iterations FOR EACH ROW EXECUTE FUNCTION refuse_run()`)
	must(t, err)
	if err := s.FinishDeletions(ctx); err == nil {
		t.Error("a deletion that failed is not told")
	}
	_, err = s.FindRun(ctx, other.Run.ID)
	wantCode(t, err, relabel.CodeNotFound)
}

func TestOnlyAMarkedRunIsDeleted(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := idle(t, s, 1)
	must(t, s.FinishDeletion(ctx, d.Run.ID))
	must(t, s.FinishDeletions(ctx))
	if kept, err := s.CountRun(ctx, d.Run.ID); err != nil || kept.Trajectories != 1 || kept.Deleting {
		t.Errorf("a run that is not being deleted has %+v, %v", kept, err)
	}
	must(t, s.BeginDeletion(ctx, d.Run.ID))
	if _, err := s.Pool().Exec(ctx, "UPDATE runs SET deleting_at = NULL WHERE id = $1", d.Run.ID); err == nil {
		t.Error("a half-deleted run can be taken back")
	}
}

func TestDeletionsTakeBoundedTransactions(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := idle(t, s, 45)
	for _, sql := range []string{
		"INSERT INTO events (subject, run_id, state) SELECT 'run', $1, 'paused' FROM generate_series(1, 12000)",
		"INSERT INTO webhook_deliveries (run_id, type, payload, state, ended_at) SELECT $1, 'run.paused', '{}', 'failed', now() FROM generate_series(1, 6000)",
	} {
		_, err := s.Pool().Exec(ctx, sql, d.Run.ID)
		must(t, err)
	}
	most := watchDeletes(t, s, "trajectories", "events", "webhook_deliveries")
	must(t, s.BeginDeletion(ctx, d.Run.ID))
	must(t, s.FinishDeletion(ctx, d.Run.ID))
	for table, bound := range map[string]int{"trajectories": 20, "events": 5000, "webhook_deliveries": 5000} {
		if n := most(table); n != bound {
			t.Errorf("%s: at most %d rows went in one transaction, not %d", table, n, bound)
		}
	}
}

// watchDeletes counts the rows that each transaction deletes from the tables.
func watchDeletes(t *testing.T, s *store.Store, tables ...string) (most func(table string) int) {
	t.Helper()
	sql := `CREATE TABLE deleted (name text, tx xid8, n bigint);
		CREATE FUNCTION count_deleted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
		BEGIN INSERT INTO deleted SELECT TG_TABLE_NAME, pg_current_xact_id(), count(*) FROM gone; RETURN NULL; END $$;`
	for _, table := range tables {
		sql += "CREATE TRIGGER counted AFTER DELETE ON " + table + " REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION count_deleted();"
	}
	_, err := s.Pool().Exec(context.Background(), sql)
	must(t, err)
	return func(table string) int {
		return value[int](t, s, "SELECT coalesce(max(n), 0)::int FROM (SELECT sum(n) AS n FROM deleted WHERE name = $1 GROUP BY tx) t", table)
	}
}

// What makes work of a run, by name.
func newWork(s *store.Store, d storetest.Seeded, policy relabel.ID) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"retry": func(ctx context.Context) error {
			_, err := s.RetryFailed(ctx, d.Iteration.ID, nil)
			return err
		},
		"regrade": func(ctx context.Context) error {
			_, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, All: true})
			return err
		},
		"relabel an iteration": func(ctx context.Context) error {
			_, err := s.RelabelIteration(ctx, d.Iteration.ID, policy, 0)
			return err
		},
		"relabel a trajectory": func(ctx context.Context) error {
			_, err := s.RelabelTrajectory(ctx, d.Trajectories[0].ID, policy, 0)
			return err
		},
		"export": func(ctx context.Context) error {
			return s.CreateExport(ctx, relabel.Export{Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f"})
		},
		"iterate": func(ctx context.Context) error {
			next := d.Iteration
			next.ID, next.Number = relabel.NewID(), 2
			return s.CreateIteration(ctx, relabel.PlannedIteration{Iteration: next, Trajectories: []relabel.Trajectory{{TaskID: d.Tasks[0].ID, Executors: "s"}}})
		},
	}
}

// over seeds a run of a trajectory that is done and one that failed.
func over(t *testing.T, s *store.Store) storetest.Seeded {
	t.Helper()
	d := storetest.Seed(t, s, 2)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 2, true)
	failed := storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	must(t, s.Fail(context.Background(), failed.Fence, relabel.FailInternal, "broken"))
	return d
}

func TestNothingBeginsInARunThatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d, policy := over(t, s), storetest.Policy(t, s, "other")
	must(t, s.BeginDeletion(ctx, d.Run.ID))
	for name, begin := range newWork(s, d, policy.ID) {
		if err := begin(ctx); relabel.CodeOf(err) != relabel.CodeConflict {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, s.FinishDeletion(ctx, d.Run.ID))
}

// Each kind of work is made by a transaction that has not committed when the deletion
// begins: the deletion waits for it and is refused, and the work goes on.
func TestADeletionSeesTheWorkThatIsBegunMeanwhile(t *testing.T) {
	t.Parallel()
	for name := range newWork(nil, storetest.Seeded{Trajectories: make([]relabel.Trajectory, 1)}, relabel.ID{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, s := context.Background(), storetest.New(t)
			d, policy := over(t, s), storetest.Policy(t, s, "other")
			gate, err := s.Pool().Begin(ctx)
			must(t, err)
			_, err = gate.Exec(ctx, "LOCK TABLE river_job IN SHARE MODE") // no wake-up is written for now
			must(t, err)
			begun, deleted := make(chan error, 1), make(chan error, 1)
			go func() { begun <- newWork(s, d, policy.ID)[name](ctx) }()
			blocked(t, s, gate, 1)
			go func() { deleted <- s.BeginDeletion(ctx, d.Run.ID) }()
			blocked(t, s, gate, 2)
			must(t, gate.Commit(ctx))
			must(t, <-begun)
			wantCode(t, <-deleted, relabel.CodeConflict)
			if run, err := s.FindRun(ctx, d.Run.ID); err != nil || run.DeletingAt != nil {
				t.Errorf("the run is deleted since %v, %v", run.DeletingAt, err)
			}
		})
	}
}

// wait polls until a condition holds.
func wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
