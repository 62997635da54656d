package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestWhatDeadWorkersLeftIsQueuedAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 5)
	lapsed := storetest.Claim(t, s, d.Trajectories[0].ID, "paused")
	must(t, s.CommitTurn(ctx, lapsed.Fence, storetest.Turn(lapsed, 1, nil)))
	expire(t, s, lapsed.TrajectoryID)
	killed := storetest.Claim(t, s, d.Trajectories[1].ID, "dead:1")
	must(t, s.SetSandbox(ctx, killed.Fence, "host", "box"))
	must(t, s.EndRollout(ctx, killed.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("p"), Submitted: true}))
	must(t, s.BeginVerifying(ctx, killed.Fence))
	storetest.Claim(t, s, d.Trajectories[2].ID, "alive")
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[3].ID, "dead:1"), 1, true)
	exec(t, s, "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now()") // as the queue has them after a crash

	recovered, err := s.RecoverAbandoned(ctx, func(owner string) bool { return owner == "dead:1" })
	must(t, err)
	if len(recovered) != 2 {
		t.Fatalf("recovered: %+v", recovered)
	}
	if r := recovered[0]; r.TrajectoryID != lapsed.TrajectoryID || r.Was != relabel.Running || r.Turns != 1 || r.Owner != "paused" || r.Attempt != 1 {
		t.Errorf("recovered: %+v", r)
	}
	if r := recovered[1]; r.TrajectoryID != killed.TrajectoryID || r.Was != relabel.Verifying || r.Container != "box" {
		t.Errorf("recovered: %+v", r)
	}
	for i, want := range []relabel.TrajectoryState{relabel.Queued, relabel.Queued, relabel.Running, relabel.Done, relabel.Queued} {
		tr, err := s.FindTrajectory(ctx, d.Trajectories[i].ID)
		must(t, err)
		if tr.State != want {
			t.Errorf("trajectory %d is %s, not %s", i, tr.State, want)
		}
	}
	for _, r := range recovered {
		attempts, err := s.ListAttempts(ctx, r.TrajectoryID)
		must(t, err)
		if attempts[0].Outcome != "lost" {
			t.Errorf("attempt: %+v", attempts[0])
		}
	}
	if n := wakeups(t, s); n != 3 {
		t.Errorf("%d wake-ups wait for three that are queued", n)
	}
	again, err := s.RecoverAbandoned(ctx, nil)
	must(t, err)
	if len(again) != 0 {
		t.Errorf("recovered twice: %+v", again)
	}
	counts, err := s.CountStates(ctx)
	must(t, err)
	if counts[relabel.Queued] != 3 || counts[relabel.Running] != 1 || counts[relabel.Done] != 1 || len(counts) != 3 {
		t.Errorf("counts: %v", counts)
	}
}

func TestAsManyWakeupsWaitAsThereIsToBeClaimed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 6)
	balanced := func(want int) {
		t.Helper()
		_, err := s.RecoverAbandoned(ctx, func(owner string) bool { return owner == "dead" })
		must(t, err)
		if n := wakeups(t, s); n != want {
			t.Fatalf("%d wake-ups wait, not %d", n, want)
		}
	}
	balanced(6)
	exec(t, s, "UPDATE river_job SET state = 'completed', finalized_at = now() WHERE id IN (SELECT id FROM river_job ORDER BY id LIMIT 2)")
	exec(t, s, "UPDATE river_job SET state = 'running', attempt = 1, attempted_by = ARRAY['dead'] WHERE id = (SELECT max(id) FROM river_job)")
	exec(t, s, `INSERT INTO river_job (args, kind, max_attempts, queue, state, attempt, attempted_at, attempted_by)
		SELECT '{}', 'rollout', 25, 'rollout', 'running', 1, now() - interval '1 hour', ARRAY[name] FROM unnest(ARRAY['far away', 'busy']) name`)
	must(t, s.SeeWorker(ctx, relabel.Worker{Name: "busy", Rollouts: 1}))
	balanced(6) // two were lost, and the worker of one was killed before it claimed
	if at := value[string](t, s, "SELECT coalesce(string_agg(attempted_by[1], ' '), '') FROM river_job WHERE state = 'running'"); at != "busy" {
		t.Errorf("jobs are left at %s", at)
	}
	storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	balanced(5)
	exec(t, s, "UPDATE runs SET quota = 3")
	balanced(2)
	exec(t, s, "UPDATE runs SET paused = '{}'")
	balanced(0)
	exec(t, s, "UPDATE runs SET paused = NULL, quota = NULL")
	exec(t, s, "UPDATE iterations SET paused = '{}'")
	balanced(0)
	exec(t, s, "UPDATE iterations SET paused = NULL")
	balanced(5)
	_, err := s.CancelIteration(ctx, d.Iteration.ID)
	must(t, err)
	if n := wakeups(t, s); n != 0 {
		t.Errorf("%d wake-ups wait for a cancelled iteration", n)
	}
}

func TestAReleasedTrajectoryIsQueuedWithItsJob(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.Seed(t, s, 1).Trajectories[0].ID, "w")
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("p"), Submitted: true}))
	must(t, s.Release(ctx, c.Fence))
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.State != relabel.Queued || tr.EndReason != relabel.EndFinish || !*tr.Submitted {
		t.Errorf("trajectory: %+v", tr)
	}
	attempts, err := s.ListAttempts(ctx, c.TrajectoryID)
	must(t, err)
	if len(attempts) != 1 || attempts[0].Outcome != "released" {
		t.Errorf("attempts: %+v", attempts)
	}
	if n := wakeups(t, s); n != 2 { // that of the iteration, which this claim did not use, and its own
		t.Errorf("%d wake-ups", n)
	}
	if c2 := storetest.Claim(t, s, c.TrajectoryID, "v"); c2.Attempt != 2 || len(c2.Abandoned) != 0 {
		t.Errorf("claim: %+v", c2)
	}
}

func TestTheJobsOfADeadWorkerAreWorkedByAnother(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	for _, worker := range []string{"dead:1", "alive", "far away"} {
		e := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f"}
		must(t, s.CreateExport(ctx, e))
		must(t, s.RunExport(ctx, e.ID))
		exec(t, s, "UPDATE river_job SET state = 'running', attempted_at = now(), attempted_by = ARRAY['before', $1] WHERE kind = 'export' AND state = 'available'", worker)
	}
	exec(t, s, "UPDATE river_job SET attempted_at = now() - interval '3 hours' WHERE 'far away' = ANY (attempted_by)")
	// Fetched, but not claimed yet when its worker was killed.
	exec(t, s, "UPDATE river_job SET state = 'running', attempted_at = now(), attempted_by = ARRAY['dead:1'] WHERE id = (SELECT min(id) FROM river_job)")
	_, err := s.RecoverAbandoned(ctx, func(owner string) bool { return owner == "dead:1" })
	must(t, err)
	if got := value[string](t, s, "SELECT string_agg(kind || ' ' || attempted_by[cardinality(attempted_by)] || ' ' || state::text, ', ' ORDER BY id) FROM river_job WHERE attempted_by IS NOT NULL"); got !=
		"export dead:1 available, export alive running, export far away available" {
		t.Errorf("jobs: %s", got)
	}
}

func TestEveryExportThatIsNotOverHasALiveJob(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	var ids []relabel.ID
	for range 3 {
		e := relabel.Export{ID: relabel.NewID(), Selection: relabel.ExportSelection{RunID: d.Run.ID}, FolderID: "f"}
		must(t, s.CreateExport(ctx, e))
		must(t, s.RunExport(ctx, e.ID))
		ids = append(ids, e.ID)
	}
	must(t, s.FailExport(ctx, ids[2], "a reason"))
	exec(t, s, "UPDATE river_job SET state = 'discarded', finalized_at = now() WHERE kind = 'export' AND args->>'export_id' <> $1", ids[1].String())
	for range 2 { // the second time there is nothing to do
		_, err := s.RecoverAbandoned(ctx, nil)
		must(t, err)
		for i, want := range []int{1, 1, 0} {
			if n := value[int](t, s, "SELECT count(*) FROM river_job WHERE kind = 'export' AND state = 'available' AND args->>'export_id' = $1", ids[i].String()); n != want {
				t.Errorf("export %d has %d live jobs, not %d", i, n, want)
			}
		}
	}
}
