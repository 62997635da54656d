package store_test

import (
	"context"
	"reflect"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

// samples makes the seeded iteration one of kind sample, with n rollouts of each task.
func samples(n int) func(d *storetest.Seeded) {
	return func(d *storetest.Seeded) {
		d.Run.Recipe, d.Run.Beta = relabel.GRPO, nil
		d.Iteration.Kind, d.Iteration.Beta, d.Iteration.Generations, d.Trajectories = relabel.Sample, nil, n, nil
		for _, task := range d.Tasks {
			for g := range n {
				d.Trajectories = append(d.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: task.ID, Generation: g, Executors: "ssss"})
			}
		}
	}
}

func TestAGRPORunNeedsNoTeacher(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		samples(2)(d)
		d.Run.TeacherID = relabel.ID{}
	})
	must(t, s.SeeEndpoints(ctx, "other", []relabel.EndpointStatus{{URL: "http://nobody", Down: "refused"}}))
	for range d.Trajectories {
		c, err := s.ClaimNext(ctx, "w", relabel.Repair, storetest.Lease)
		must(t, err)
		if c.Run.HasTeacher() || c.Teacher.ID != (relabel.ID{}) || c.Student.ID != d.Student.ID {
			t.Errorf("claims %+v", c)
		}
		storetest.Finish(t, s, c, 2, true)
	}
	figures, err := s.ListFigures(ctx, d.Run.ID)
	must(t, err)
	if p := figures[0].Progress; p.Resolved != 2 || p.Turns != 4 || p.LabelsReceived+p.LabelsMissed+p.TeacherTurns != 0 {
		t.Errorf("%+v", p)
	}
	runs, _, err := s.ListRuns(ctx, relabel.Page{})
	must(t, err)
	if len(runs) != 1 || runs[0].HasTeacher() || runs[0].Recipe != relabel.GRPO {
		t.Errorf("%+v", runs)
	}
	for _, recipe := range []relabel.Recipe{relabel.OPD, relabel.DAgger} {
		without := d.Run
		without.ID, without.Name, without.Recipe = relabel.NewID(), string(recipe), recipe
		wantCode(t, s.CreateRun(ctx, without), relabel.CodeInvalid)
	}
}

func TestPassAtKLeavesOutInfrastructureErrors(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 2, samples(3))
	if got, err := s.ListPassAtK(ctx, d.Iteration); got != nil || err != nil {
		t.Errorf("without a verdict it has %v, %v", got, err)
	}
	// The first task: resolved, failed, and an infrastructure error. The second: three failed.
	for i, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "w")
		if i == 2 {
			must(t, s.Fail(ctx, c.Fence, relabel.FailEnvironment, "no disk"))
			continue
		}
		storetest.Finish(t, s, c, 1, i == 0)
	}
	got, err := s.ListPassAtK(ctx, d.Iteration)
	must(t, err)
	want := []relabel.PassAtK{{K: 1, Value: new(0.25), Tasks: 2}, {K: 2, Value: new(0.5), Tasks: 2}, {K: 3, Value: new(0.0), Tasks: 1, Short: 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	d.Iteration.Kind = relabel.Collect
	if got, err := s.ListPassAtK(ctx, d.Iteration); got != nil || err != nil {
		t.Errorf("a collect iteration has %v, %v", got, err)
	}
}

func TestWhatIsNotVerifiedIsNeitherFailedNorAnError(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		samples(2)(d)
		d.Run.Verify, d.Iteration.Verify = relabel.VerifyNone, "sample:1"
		d.Trajectories[1].SkipVerify = true
	})
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 1, true)
	c := storetest.Claim(t, s, d.Trajectories[1].ID, "w")
	turn := storetest.Turn(c, 1, nil)
	turn.Label = nil
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish, Patch: []byte("diff"), Submitted: true}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.FinishUnverified(ctx, c.Fence))
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.State != relabel.Done || tr.Verdict != relabel.VerdictUnverified || tr.Resolved != nil || !tr.SkipVerify {
		t.Errorf("%+v", tr)
	}
	it, p, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State != relabel.IterationDone || it.Verify != "sample:1" || p.Verified != 1 || p.Resolved != 1 || p.Unverified != 1 {
		t.Errorf("%+v, %+v", it, p)
	}
	grid, _, err := s.ListGrid(ctx, d.Run.ID, "", relabel.Page{})
	must(t, err)
	if cell := grid.Rows[0].Cells[0]; cell.Unverified != 1 || cell.Error != 0 || cell.Generations() != 2 {
		t.Errorf("%+v", cell)
	}
	progress, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, TrajectoryID: &tr.ID})
	must(t, err)
	if progress.Open() != 1 {
		t.Errorf("it cannot be graded later: %+v", progress)
	}
	run, err := s.FindRun(ctx, d.Run.ID)
	must(t, err)
	if run.Verify != relabel.VerifyNone {
		t.Errorf("the run verifies %q", run.Verify)
	}
}

func TestATrajectoryThatIsToBeVerifiedDoesNotEndWithoutAVerdict(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	c := storetest.Claim(t, s, storetest.SeedWith(t, s, 1, samples(1)).Trajectories[0].ID, "w")
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	wantCode(t, s.FinishUnverified(ctx, c.Fence), relabel.CodeConflict)
}
