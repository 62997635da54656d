package store_test

import (
	"context"
	"testing"
	"time"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// graded is a run with two trajectories that are done under protections version 0: the
// first one passes, the second one does not.
func graded(t *testing.T) (*store.Store, storetest.Seeded) {
	t.Helper()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	for i, tr := range d.Trajectories {
		storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 1, i == 0)
	}
	return s, d
}

func present(passed bool, reason relabel.VerdictReason) relabel.Verdict {
	return relabel.Verdict{Passed: passed, Reason: reason, Protections: relabel.ProtectionsVersion, Output: []byte("again"), Millis: 7, Canaries: true,
		Dropped: []relabel.DroppedPath{{Path: "zz-1.0.dist-info/entry_points.txt", Reason: "a plugin"}}, DroppedCount: 1}
}

// TestARegradeKeepsTheOldVerdict grades a run again: one verdict turns, the states and the
// earlier verdicts stay, figures that were read before are read again.
func TestARegradeKeepsTheOldVerdict(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := graded(t)
	list, err := s.ListFigures(ctx, d.Run.ID)
	must(t, err)
	if list[0].Progress.Resolved != 1 || list[0].Iteration.EndedAt == nil {
		t.Fatalf("%+v", list[0])
	}
	all := relabel.RegradeSelection{RunID: d.Run.ID}
	p, err := s.Regrade(ctx, all)
	must(t, err)
	if p.Outdated != 2 || p.Regradings[relabel.RegradeQueued] != 2 || len(p.Verdicts) != 1 || p.Verdicts[0] != (relabel.ProtectionsCount{Verdicts: 2, Passed: 1}) {
		t.Fatalf("%+v", p)
	}
	p, err = s.Regrade(ctx, all) // asked twice it is queued once
	must(t, err)
	if p.Open() != 2 {
		t.Fatalf("%+v", p)
	}
	verdictTime(t, s, all)
	for range 2 {
		c, err := s.ClaimRegrading(ctx, "g", time.Minute)
		must(t, err)
		if live, err := s.LiveAttempts(ctx); err != nil || live[c.Trajectory.ID] != c.Trajectory.Attempt {
			t.Errorf("the sandbox of a regrading would be removed: %v, %v", live, err)
		}
		if string(c.Patch) != "diff --git a/a b/a\n" || c.Task.ID != c.Trajectory.TaskID || c.Limits != d.Run.Limits {
			t.Errorf("%+v", c)
		}
		must(t, s.FinishRegrading(ctx, c.RegradeFence, present(false, relabel.VerdictTests), time.Minute))
	}
	p, err = s.RegradeProgress(ctx, all)
	must(t, err)
	if p.Outdated != 0 || p.Changed != 1 || p.Regradings[relabel.RegradeDone] != 2 || p.Verdicts[0].Protections != relabel.ProtectionsVersion {
		t.Errorf("%+v", p)
	}
	tr, err := s.FindTrajectory(ctx, d.Trajectories[0].ID)
	must(t, err)
	verdicts, err := s.ListVerdicts(ctx, tr.ID)
	must(t, err)
	if tr.State != relabel.Done || *tr.Passed || *tr.Resolved || *tr.Protections != relabel.ProtectionsVersion || len(verdicts) != 2 || !verdicts[1].Passed || verdicts[0].Passed || verdicts[0].Number != 2 {
		t.Errorf("%+v, %+v", tr, verdicts)
	}
	if v, err := s.FindVerdict(ctx, tr.ID); err != nil || v.Number != 2 || string(v.Output) != "again" || len(v.Dropped) != 1 || v.DroppedCount != 1 || !v.Canaries || verdicts[1].Canaries {
		t.Errorf("%+v, %v", v, err)
	}
	if list, err = s.ListFigures(ctx, d.Run.ID); err != nil || list[0].Progress.Resolved != 0 {
		t.Errorf("figures that were remembered: %+v, %v", list[0].Progress, err)
	}
	if p, err = s.Regrade(ctx, all); err != nil || p.Open() != 0 {
		t.Errorf("verdicts of the present protections are graded again: %+v, %v", p, err)
	}
	all.All = true
	if p, err = s.Regrade(ctx, all); err != nil || p.Open() != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if n, err := s.CancelRegradings(ctx, all); err != nil || n != 2 {
		t.Errorf("%d cancelled, %v", n, err)
	}
}

// TestAnInfrastructureErrorKeepsTheVerdict has a regrading fail as often as it may.
func TestAnInfrastructureErrorKeepsTheVerdict(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := graded(t)
	first := d.Trajectories[0].ID
	one := relabel.RegradeSelection{RunID: d.Run.ID, TrajectoryID: &first}
	_, err := s.Regrade(ctx, one)
	must(t, err)
	for range relabel.MaxRegradeTries {
		c, err := s.ClaimRegrading(ctx, "g", time.Minute)
		must(t, err)
		must(t, s.FinishRegrading(ctx, c.RegradeFence, relabel.Verdict{Infra: "the disk is full", Protections: relabel.ProtectionsVersion}, 0))
	}
	_, err = s.ClaimRegrading(ctx, "g", time.Minute)
	wantCode(t, err, relabel.CodeNotFound)
	p, err := s.RegradeProgress(ctx, one)
	must(t, err)
	if p.Regradings[relabel.RegradeFailed] != 1 || p.Errors != relabel.MaxRegradeTries || p.Outdated != 1 {
		t.Errorf("%+v", p)
	}
	if len(p.Failures) != 1 || p.Failures[0] != (relabel.RegradeFailure{TrajectoryID: first, InstanceID: d.Tasks[0].InstanceID, Failure: "the disk is full"}) {
		t.Errorf("failures %+v", p.Failures)
	}
	tr, err := s.FindTrajectory(ctx, first)
	must(t, err)
	v, err := s.FindVerdict(ctx, first)
	must(t, err)
	if !*tr.Resolved || tr.Verdict != relabel.VerdictPassed || !v.Passed || v.Number != 1 {
		t.Errorf("%+v, %+v", tr, v)
	}
	if all, err := s.ListRegradings(ctx, first); err != nil || len(all) != 1 || all[0].Failure != "the disk is full" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAnotherWorkerTakesARegradingOver lets leases run out: a stale worker writes nothing,
// and what loses its worker each time fails in the end.
func TestAnotherWorkerTakesARegradingOver(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := graded(t)
	first := d.Trajectories[0].ID
	_, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, TrajectoryID: &first})
	must(t, err)
	expireAll := func() {
		exec(t, s, "UPDATE regradings SET lease_until = clock_timestamp() - interval '1 second' WHERE state = 'running'")
	}
	stale, err := s.ClaimRegrading(ctx, "one", time.Minute)
	must(t, err)
	expireAll()
	next, err := s.ClaimRegrading(ctx, "two", time.Minute)
	must(t, err)
	wantCode(t, s.FinishRegrading(ctx, stale.RegradeFence, present(false, relabel.VerdictTests), 0), relabel.CodeLeaseLost)
	wantCode(t, s.RenewRegrading(ctx, stale.RegradeFence, time.Minute), relabel.CodeLeaseLost)
	must(t, s.RenewRegrading(ctx, next.RegradeFence, time.Minute))
	must(t, s.ReleaseRegrading(ctx, next.RegradeFence))
	for range relabel.MaxRegradeTries - 1 {
		_, err = s.ClaimRegrading(ctx, "three", time.Minute)
		must(t, err)
		expireAll()
		must(t, s.WakeRegraders(ctx))
	}
	p, err := s.RegradeProgress(ctx, relabel.RegradeSelection{RunID: d.Run.ID})
	must(t, err)
	if p.Regradings[relabel.RegradeFailed] != 1 || p.Open() != 0 {
		t.Errorf("%+v", p)
	}
	if v, err := s.ListVerdicts(ctx, first); err != nil || len(v) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// verdictTime gives each of two verdicts five seconds: counting leaves that out, the
// progress sums it up.
func verdictTime(t *testing.T, s *store.Store, all relabel.RegradeSelection) {
	t.Helper()
	_, err := s.Pool().Exec(t.Context(), "UPDATE verdicts SET millis = 5000")
	must(t, err)
	counted, err := s.RegradeCounts(t.Context(), all)
	must(t, err)
	summed, err := s.RegradeProgress(t.Context(), all)
	must(t, err)
	if counted.Outdated != 2 || counted.OutdatedMillis != 0 || summed.Outdated != 2 || summed.OutdatedMillis != 10_000 {
		t.Errorf("%+v, %+v", counted, summed)
	}
}

func TestARegradeTakesTheIterationsOfANumber(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, d := graded(t)
	_, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, Iteration: 2})
	wantCode(t, err, relabel.CodeConflict)
	p, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, Iteration: 1})
	must(t, err)
	if p.Open() != 2 {
		t.Errorf("%+v", p)
	}
	if n, err := s.CancelRegradings(ctx, relabel.RegradeSelection{RunID: d.Run.ID, Iteration: 1}); err != nil || n != 2 {
		t.Errorf("%d cancelled, %v", n, err)
	}
}
