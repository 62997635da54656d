package store_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"relabel"
	"relabel/store/storetest"
)

func TestAnIterationIsDoneWithItsLastTrajectory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 8)
	var work sync.WaitGroup
	for i, tr := range d.Trajectories {
		c := storetest.Claim(t, s, tr.ID, "w")
		work.Go(func() {
			if i%2 == 0 {
				storetest.Finish(t, s, c, 2, true)
			} else if err := s.Fail(ctx, c.Fence, relabel.FailEnvironment, "the engine is gone"); err != nil {
				t.Error(err)
			}
		})
	}
	it, _, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State == relabel.IterationDone && it.EndedAt == nil {
		t.Errorf("iteration: %+v", it)
	}
	work.Wait()
	it, progress, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State != relabel.IterationDone || it.EndedAt == nil || progress.Trajectories[relabel.Done] != 4 || progress.Trajectories[relabel.Failed] != 4 {
		t.Errorf("iteration: %+v, %+v", it, progress)
	}
	if n := value[int](t, s, "SELECT count(*) FROM events WHERE subject = 'iteration' AND state = 'done'"); n != 1 {
		t.Errorf("%d events say so", n)
	}
}

func TestCancelAgainstCompletionLeavesOneTerminalState(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	for range 10 {
		d := storetest.Seed(t, s, 3)
		var claims []relabel.Claim
		for _, tr := range d.Trajectories {
			c := storetest.Claim(t, s, tr.ID, "w")
			must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Missing})))
			must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndFinish}))
			must(t, s.BeginVerifying(ctx, c.Fence))
			claims = append(claims, c)
		}
		var work sync.WaitGroup
		for _, c := range claims {
			work.Go(func() {
				err := s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "tests"})
				if err != nil && relabel.CodeOf(err) != relabel.CodeLeaseLost {
					t.Error(err)
				}
			})
		}
		work.Go(func() {
			if _, err := s.CancelIteration(ctx, d.Iteration.ID); err != nil && relabel.CodeOf(err) != relabel.CodeConflict {
				t.Error(err)
			}
		})
		work.Wait()
		it, progress, err := s.FindIteration(ctx, d.Iteration.ID)
		must(t, err)
		if it.State == relabel.IterationRunning || progress.Trajectories[relabel.Done]+progress.Trajectories[relabel.Cancelled] != 3 {
			t.Fatalf("iteration: %+v, %+v", it, progress)
		}
		if it.State == relabel.IterationDone && progress.Trajectories[relabel.Done] != 3 {
			t.Fatalf("done with %+v", progress)
		}
		ends := value[int](t, s, "SELECT count(*) FROM events WHERE iteration_id = $1 AND subject = 'trajectory' AND state IN ('done', 'failed', 'cancelled')", d.Iteration.ID)
		if ends != 3 {
			t.Fatalf("%d ends of three trajectories", ends)
		}
	}
}

func TestACancelledIterationStaysCancelled(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, 1, nil)))
	for range 2 {
		it, err := s.CancelIteration(ctx, d.Iteration.ID)
		must(t, err)
		if it.State != relabel.IterationCancelled || it.EndedAt == nil {
			t.Errorf("iteration: %+v", it)
		}
	}
	wantCode(t, renew(s, c.Fence), relabel.CodeLeaseLost)
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.State != relabel.Cancelled || tr.LabelsMissing != 1 || tr.EndedAt == nil {
		t.Errorf("trajectory: %+v", tr)
	}
	_, err = s.CancelIteration(ctx, relabel.NewID())
	wantCode(t, err, relabel.CodeNotFound)
}

func TestAnIterationIsStoredWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 2)
	plan := func(change func(*relabel.PlannedIteration)) relabel.PlannedIteration {
		p := relabel.PlannedIteration{Iteration: d.Iteration, Trajectories: []relabel.Trajectory{{TaskID: d.Tasks[0].ID, Executors: "s"}}}
		p.Iteration.ID, p.Iteration.Number = relabel.NewID(), 2
		change(&p)
		return p
	}
	half, nan := 1.5, math.NaN()
	before := fingerprint(t, s, append(rolloutTables, "river_job")...)
	for what, c := range map[string]struct {
		code   relabel.Code
		change func(*relabel.PlannedIteration)
	}{
		"a number that is taken": {relabel.CodeConflict, func(p *relabel.PlannedIteration) { p.Iteration.Number = 1 }},
		"β above 1":              {relabel.CodeInvalid, func(p *relabel.PlannedIteration) { p.Iteration.Beta = &half }},
		"β that is no number":    {relabel.CodeInvalid, func(p *relabel.PlannedIteration) { p.Iteration.Beta = &nan }},
		"no trajectories":        {relabel.CodeInvalid, func(p *relabel.PlannedIteration) { p.Trajectories = nil }},
		"a task twice":           {relabel.CodeInvalid, func(p *relabel.PlannedIteration) { p.Trajectories = append(p.Trajectories, p.Trajectories[0]) }},
		"a task that is not":     {relabel.CodeInvalid, func(p *relabel.PlannedIteration) { p.Trajectories[0].TaskID = relabel.NewID() }},
		"a student that is not":  {relabel.CodeInvalid, func(p *relabel.PlannedIteration) { p.Iteration.StudentID = relabel.NewID() }},
		"a run that is not":      {relabel.CodeNotFound, func(p *relabel.PlannedIteration) { p.Iteration.RunID = relabel.NewID() }},
	} {
		if err := s.CreateIteration(ctx, plan(c.change)); relabel.CodeOf(err) != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	for table, sum := range fingerprint(t, s, append(rolloutTables, "river_job")...) {
		if before[table] != sum {
			t.Errorf("%s changed", table)
		}
	}
	must(t, s.CreateIteration(ctx, plan(func(p *relabel.PlannedIteration) { p.Iteration.Kind = relabel.Evaluate; p.Iteration.Number = 1 })))
	list, err := s.ListIterations(ctx, d.Run.ID)
	must(t, err)
	if len(list) != 2 || list[0].Kind != relabel.Collect || list[1].Kind != relabel.Evaluate || list[1].Number != 1 {
		t.Errorf("iterations: %+v", list)
	}
}

func TestEveryChangeOfStateIsAnEvent(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 1, true)
	got := value[string](t, s, "SELECT string_agg(state, ' ' ORDER BY id) FROM events WHERE trajectory_id = $1", d.Trajectories[0].ID)
	if got != "queued running labelling verifying done" {
		t.Errorf("events: %s", got)
	}
	got = value[string](t, s, "SELECT string_agg(state, ' ' ORDER BY id) FROM events WHERE iteration_id = $1 AND subject = 'iteration'", d.Iteration.ID)
	if got != "running done" {
		t.Errorf("events: %s", got)
	}
}
