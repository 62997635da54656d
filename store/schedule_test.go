package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// seedRuns stores runs with n queued trajectories each.
func seedRuns(t testing.TB, s *store.Store, n int, names ...string) map[string]storetest.Seeded {
	t.Helper()
	runs := map[string]storetest.Seeded{}
	for _, name := range names {
		runs[name] = storetest.SeedWith(t, s, n, func(d *storetest.Seeded) { d.Run.Name = name })
	}
	return runs
}

// set changes a run's priority and quota.
func set(t testing.TB, s *store.Store, d storetest.Seeded, priority, quota int) {
	t.Helper()
	r, err := s.SetScheduling(context.Background(), d.Run.ID, relabel.SchedulingChange{Priority: &priority, Quota: &quota})
	must(t, err)
	if r.Priority != priority || r.Quota != quota {
		t.Fatalf("run: %+v", r.Scheduling)
	}
}

// next claims n times and returns the names of the runs in the order they came.
func next(t testing.TB, s *store.Store, n int) (names []string, claims []relabel.Claim) {
	t.Helper()
	for range n {
		c, err := s.ClaimNext(context.Background(), "w", relabel.Repair, storetest.Lease)
		must(t, err)
		names, claims = append(names, c.Run.Name), append(claims, c)
	}
	return names, claims
}

func wantNothing(t testing.TB, s *store.Store) {
	t.Helper()
	_, err := s.ClaimNext(context.Background(), "w", relabel.Repair, storetest.Lease)
	wantCode(t, err, relabel.CodeNotFound)
}

func TestRunsOfOnePriorityShareTheSlots(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	runs := seedRuns(t, s, 9, "a", "b", "c")
	names, claims := next(t, s, 9)
	if got := fmt.Sprint(names); got != "[a b c a b c a b c]" {
		t.Errorf("claimed %s", got)
	}
	// The first of a run is its oldest.
	if claims[0].TrajectoryID != runs["a"].Trajectories[0].ID || claims[3].TrajectoryID != runs["a"].Trajectories[1].ID {
		t.Error("the oldest trajectory is not the first")
	}
	// A run that comes late catches up, and one whose rollouts are short is not behind.
	seedRuns(t, s, 9, "late")
	if names, _ := next(t, s, 3); fmt.Sprint(names) != "[late late late]" {
		t.Errorf("then %v", names)
	}
	for _, c := range claims[:3] {
		storetest.Finish(t, s, c, 1, true)
	}
	if names, _ := next(t, s, 3); fmt.Sprint(names) != "[a b c]" {
		t.Errorf("then %v", names)
	}
}

func TestTheHighestPriorityGoesFirst(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	runs := seedRuns(t, s, 4, "low", "high", "middle")
	set(t, s, runs["high"], 10, 0)
	set(t, s, runs["low"], -10, 0)
	if names, _ := next(t, s, 12); fmt.Sprint(names) != "[high high high high middle middle middle middle low low low low]" {
		t.Errorf("claimed %v", names)
	}
	wantNothing(t, s)
}

func TestWhatIsPausedIsNotClaimed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	runs := seedRuns(t, s, 2, "a", "b")
	r, err := s.PauseRun(ctx, runs["a"].Run.ID, relabel.PausedByBudget, "10 of 10 USD are spent")
	must(t, err)
	if p := r.Paused; p == nil || p.Reason != relabel.PausedByBudget || p.Text != "10 of 10 USD are spent" || p.Since.IsZero() {
		t.Errorf("pause: %+v", p)
	}
	again, err := s.PauseRun(ctx, runs["a"].Run.ID, relabel.PausedByUser, "")
	must(t, err)
	if *again.Paused != *r.Paused {
		t.Errorf("the first pause is not kept: %+v", again.Paused)
	}
	names, claims := next(t, s, 1)
	if names[0] != "b" {
		t.Errorf("claimed of %s", names[0])
	}
	it, err := s.PauseIteration(ctx, runs["b"].Iteration.ID, relabel.PausedByUser, "")
	must(t, err)
	if it.Paused == nil {
		t.Error("not paused")
	}
	wantNothing(t, s)
	standings, err := s.Look(ctx, []relabel.Fence{{TrajectoryID: relabel.NewID(), Attempt: 1, Owner: "w"}, claims[0].Fence})
	must(t, err)
	if standings[0].Held || !standings[1].Held || !standings[1].Paused {
		t.Errorf("standings: %+v", standings)
	}
	_, err = s.ResumeRun(ctx, runs["a"].Run.ID)
	must(t, err)
	_, err = s.ResumeIteration(ctx, runs["b"].Iteration.ID)
	must(t, err)
	if n := wakeups(t, s); n != 3 {
		t.Errorf("%d wake-ups for three trajectories", n)
	}
	next(t, s, 3)
	_, err = s.CancelRun(ctx, runs["a"].Run.ID)
	must(t, err)
	_, err = s.PauseIteration(ctx, runs["a"].Iteration.ID, relabel.PausedByUser, "")
	wantCode(t, err, relabel.CodeConflict)
	_, err = s.PauseRun(ctx, relabel.NewID(), relabel.PausedByUser, "")
	wantCode(t, err, relabel.CodeNotFound)
}

// Eight claimers race for a run with a quota of three, and release, finish and fail
// meanwhile. By the database's timestamps, no four attempts overlap.
func TestAQuotaIsNeverExceeded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 200)
	set(t, s, d, 0, 3)
	var work sync.WaitGroup
	for i := range 8 {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		work.Go(func() {
			for range 40 {
				c, err := s.ClaimNext(ctx, fmt.Sprint("w", i), relabel.Repair, storetest.Lease)
				if relabel.CodeOf(err) == relabel.CodeNotFound {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if random.IntN(4) > 0 {
					err = s.Release(ctx, c.Fence)
				} else {
					err = s.Fail(ctx, c.Fence, relabel.FailEndpoint, "gone")
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if n := value[int](t, s, "SELECT count(*) FROM attempts"); n < 40 {
		t.Errorf("%d claims are too few for a race", n)
	}
	most := value[int](t, s, `SELECT max(held) FROM (SELECT sum(step) OVER (ORDER BY at, step) AS held FROM (
		SELECT started_at AS at, 1 AS step FROM attempts UNION ALL SELECT ended_at, -1 FROM attempts) steps) counts`)
	if most != 3 {
		t.Errorf("%d were held at once", most)
	}
	// And without a race the quota is used to the full.
	next(t, s, 3)
	wantNothing(t, s)
	set(t, s, d, 0, 1) // what is held beyond a smaller one is kept
	wantNothing(t, s)
	set(t, s, d, 0, 0)
	next(t, s, 1)
}

func TestClaimersDoNotMeet(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	seedRuns(t, s, 40, "a", "b")
	var mu sync.Mutex
	claimed := map[relabel.ID]int{}
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for range 10 {
				c, err := s.ClaimNext(context.Background(), fmt.Sprint("w", i), relabel.Repair, storetest.Lease)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				claimed[c.TrajectoryID]++
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if len(claimed) != 80 {
		t.Errorf("%d trajectories in 80 claims", len(claimed))
	}
	wantNothing(t, s)
}

func TestFailedTrajectoriesAreRetriedByReason(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 4)
	reasons := []relabel.FailureReason{relabel.FailEndpoint, relabel.FailEnvironment, relabel.FailSecret}
	for i, reason := range reasons {
		c := storetest.Claim(t, s, d.Trajectories[i].ID, "w")
		must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
		must(t, s.Fail(ctx, c.Fence, reason, "gone"))
	}
	exec(t, s, "UPDATE trajectories SET waited_step = 'turn 2', waited_ms = 3600000, fault = 'turn 2: x', faults = 2 WHERE state = 'failed'")
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[3].ID, "w"), 2, true)
	n, err := s.RetryFailed(ctx, d.Iteration.ID, reasons[:2])
	must(t, err)
	it, p, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if n != 2 || it.State != relabel.IterationRunning || it.EndedAt != nil || p.Trajectories[relabel.Queued] != 2 || p.Trajectories[relabel.Failed] != 1 {
		t.Errorf("%d retried: %+v, %+v", n, it, p)
	}
	tr, err := s.FindTrajectory(ctx, d.Trajectories[0].ID)
	must(t, err)
	if tr.State != relabel.Queued || tr.Failure != "" || tr.FailureDetail != "" || tr.EndedAt != nil || tr.Attempt != 1 || tr.EnvironmentFailures != 0 || tr.LabelsMissing != 0 {
		t.Errorf("trajectory: %+v", tr)
	}
	if n := value[int](t, s, "SELECT count(*) FROM trajectories WHERE state = 'queued' AND (waited_step IS NOT NULL OR waited_ms > 0 OR fault IS NOT NULL OR faults > 0)"); n != 0 {
		t.Errorf("%d retried trajectories keep what counted towards a failure", n)
	}
	if p.LabelsPending != 2 || p.LabelsMissed != 1 || p.LabelsReceived != 2 {
		t.Errorf("labels: %+v", p)
	}
	for range 2 {
		_, claims := next(t, s, 1)
		if claims[0].Attempt != 2 {
			t.Errorf("attempt %d", claims[0].Attempt)
		}
		must(t, s.Fail(ctx, claims[0].Fence, relabel.FailEnvironment, "again"))
	}
	if it, _, err = s.FindIteration(ctx, d.Iteration.ID); err != nil || it.State != relabel.IterationDone {
		t.Errorf("%v, %+v", err, it)
	}
	if n, err = s.RetryFailed(ctx, d.Iteration.ID, nil); err != nil || n != 3 {
		t.Errorf("all reasons: %d, %v", n, err)
	}
	if n, err = s.RetryFailed(ctx, d.Iteration.ID, nil); err != nil || n != 0 {
		t.Errorf("a second time: %d, %v", n, err)
	}
	_, err = s.CancelIteration(ctx, d.Iteration.ID)
	must(t, err)
	_, err = s.RetryFailed(ctx, d.Iteration.ID, nil)
	wantCode(t, err, relabel.CodeConflict)
	_, err = s.RetryFailed(ctx, relabel.NewID(), nil)
	wantCode(t, err, relabel.CodeNotFound)
}

func TestOnlySchedulingOfARunChanges(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	if got := violated(t, s, "UPDATE runs SET seed = 8, priority = 3"); got != "runs_immutable" {
		t.Errorf("a run's seed changes: refused by %q", got)
	}
	for change, want := range map[string]string{"priority = 1001": "runs_priority", "quota = 0": "runs_quota", "priority = -1000, quota = 1": ""} {
		if got := violated(t, s, "UPDATE runs SET "+change+" WHERE id = '"+d.Run.ID.String()+"'"); got != want {
			t.Errorf("%s: refused by %q, not %q", change, got, want)
		}
	}
}
