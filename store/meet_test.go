package store_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// blocked waits until n transactions wait for tx, or for one that waits for it.
func blocked(t testing.TB, s *store.Store, tx pgx.Tx, n int) {
	t.Helper()
	var holder int
	must(t, tx.QueryRow(context.Background(), "SELECT pg_backend_pid()").Scan(&holder))
	for waiting := 0; waiting < n; {
		waiting = value[int](t, s, `WITH RECURSIVE waiting AS (SELECT $1::integer AS pid UNION
			SELECT a.pid FROM pg_stat_activity a JOIN waiting w ON a.wait_event_type = 'Lock' AND w.pid = ANY (pg_blocking_pids(a.pid)))
			SELECT count(*) - 1 FROM waiting`, holder)
	}
}

// A retry and a cancel of one iteration meet: the retry has queued its trajectory and not
// committed when the cancel looks for what is not terminal.
func TestARetryThatMeetsACancelLeavesNothingQueued(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 2)
	must(t, s.Fail(ctx, storetest.Claim(t, s, d.Trajectories[0].ID, "w").Fence, relabel.FailEndpoint, "gone"))
	gate, err := s.Pool().Begin(ctx)
	must(t, err)
	_, err = gate.Exec(ctx, "LOCK TABLE river_job IN SHARE MODE") // no wake-up is written for now
	must(t, err)
	ended := make(chan error, 2)
	go func() {
		_, err := s.RetryFailed(ctx, d.Iteration.ID, nil)
		ended <- err
	}()
	blocked(t, s, gate, 1)
	go func() {
		_, err := s.CancelIteration(ctx, d.Iteration.ID)
		ended <- err
	}()
	blocked(t, s, gate, 2)
	must(t, gate.Commit(ctx))
	must(t, <-ended)
	must(t, <-ended)
	if n := value[int](t, s, "SELECT count(*) FROM trajectories WHERE state <> 'cancelled'"); n != 0 {
		t.Errorf("%d trajectories of a cancelled iteration are not cancelled", n)
	}
}

// Two runs at their quotas: whoever finds one of them full must not hold its lock while
// it waits for the other's.
func TestAFullQuotaIsNotHeldOnTo(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	runs := seedRuns(t, s, 2, "first", "second")
	set(t, s, runs["first"], 1, 1)
	set(t, s, runs["second"], 0, 1)
	lock := func(tx pgx.Tx, name string) {
		t.Helper()
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('quota of ' || $1::text, 0))", runs[name].Run.ID.String())
		must(t, err)
	}
	first, err := s.Pool().Begin(ctx)
	must(t, err)
	lock(first, "first")
	second, err := s.Pool().Begin(ctx)
	must(t, err)
	lock(second, "second")
	claimed := make(chan error, 1)
	go func() {
		_, err := s.ClaimNext(ctx, "late", relabel.Repair, storetest.Lease)
		claimed <- err
	}()
	blocked(t, s, first, 1) // at the first run
	storetest.Claim(t, s, runs["first"].Trajectories[0].ID, "w")
	must(t, first.Commit(ctx))
	third, err := s.Pool().Begin(ctx)
	must(t, err)
	lock(third, "first") // would wait for ever
	must(t, third.Commit(ctx))
	must(t, second.Commit(ctx))
	must(t, <-claimed)
}

// Two requests to score that differ in top_k: the second may not get the first one's scorings as its own.
func TestRequestsToScoreMeet(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 1)
	sampledTrajectory(t, s, d)
	other := storetest.Policy(t, s, "other")
	gate, err := s.Pool().Begin(ctx)
	must(t, err)
	_, err = gate.Exec(ctx, "LOCK TABLE river_job IN SHARE MODE") // no wake-up is written for now
	must(t, err)
	var ended [2]chan error
	for i := range ended {
		ended[i] = make(chan error, 1)
		go func() {
			ended[i] <- s.StartScoring(ctx, relabel.ScoreSelection{RunID: d.Run.ID}, other.ID, i, 0)
		}()
		blocked(t, s, gate, i+1)
	}
	must(t, gate.Commit(ctx))
	must(t, <-ended[0])
	wantCode(t, <-ended[1], relabel.CodeConflict)
}
