package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// cutRollouts seeds an aggrevate run of three rollouts of one task: the label rule ended the first, the
// second submitted and passed, the third submitted nothing.
func cutRollouts(t testing.TB, s *store.Store) storetest.Seeded {
	t.Helper()
	ctx := context.Background()
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		rho := relabel.RhoSchedule{Kind: "constant", Max: 2}
		d.Run.Recipe, d.Run.Beta, d.Run.Rho, d.Run.LabelRule = relabel.AggreVaTe, nil, &rho, "teacher_turns:1"
		d.Iteration.Beta, d.Iteration.Rho, d.Iteration.LabelRule, d.Iteration.Generations = nil, &rho, "teacher_turns:1", 3
		d.Trajectories = nil
		for g := range 3 {
			d.Trajectories = append(d.Trajectories, relabel.Trajectory{ID: relabel.NewID(), TaskID: d.Tasks[0].ID, Generation: g, Executors: "ssTTTT", Kappa: new(2)})
		}
	})
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	for n := 1; n <= 3; n++ {
		label := storetest.Received(c.Teacher.ID, "label")
		must(t, s.CommitTurn(ctx, c.Fence, storetest.Turn(c, n, &label)))
	}
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndTeacherTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.FinishUnverified(ctx, c.Fence))
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 3, true)
	c = storetest.Claim(t, s, d.Trajectories[2].ID, "w")
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: relabel.VerdictEmptyPatch, Protections: relabel.ProtectionsVersion}))
	return d
}

func TestARolloutThatTheRuleEndedIsNeitherResolvedNorUnresolved(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := cutRollouts(t, s)
	tr, err := s.FindTrajectory(ctx, d.Trajectories[0].ID)
	must(t, err)
	if tr.State != relabel.Done || tr.EndReason != relabel.EndTeacherTurns || tr.Verdict != relabel.VerdictCut || *tr.Submitted || tr.Resolved != nil || tr.LabelsReceived != 3 || tr.Reward() != nil {
		t.Errorf("%+v, reward %v", tr, tr.Reward())
	}
	it, p, err := s.FindIteration(ctx, d.Iteration.ID)
	must(t, err)
	if it.State != relabel.IterationDone || it.LabelRule != "teacher_turns:1" || p.Cut != 1 || p.Unverified != 0 || p.Verified != 2 || p.Resolved != 1 {
		t.Errorf("%+v, %+v", it, p)
	}
	figures, err := s.ListFigures(ctx, d.Run.ID)
	must(t, err)
	if f := figures[0]; f.Progress.Cut != 1 || f.EndReasons[relabel.EndTeacherTurns] != 1 || f.UnresolvedEnds[relabel.EndTeacherTurns] != 0 || *f.Resolution() != 0.5 {
		t.Errorf("%+v", f)
	}
	grid, _, err := s.ListGrid(ctx, d.Run.ID, "", relabel.Page{})
	must(t, err)
	if cell := grid.Rows[0].Cells[0]; cell.Cut != 1 || cell.Resolved != 1 || cell.Failed != 1 || cell.Error != 0 || cell.Generations() != 3 {
		t.Errorf("%+v", cell)
	}
	tallies, err := s.ListFailureTallies(ctx, d.Run.ID)
	must(t, err)
	cut := 0
	for _, tally := range tallies {
		if tally.Cut {
			cut += tally.Count
		}
	}
	if len(tallies) != 3 || cut != 1 {
		t.Errorf("%+v", tallies)
	}
}

func TestARolloutThatTheRuleEndedIsNeitherGradedLaterNorJudged(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := cutRollouts(t, s)
	progress, err := s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, All: true})
	must(t, err)
	if progress.Open() != 2 || progress.Outdated != 1 { // the passed one has no version
		t.Errorf("%+v", progress)
	}
	_, err = s.Regrade(ctx, relabel.RegradeSelection{RunID: d.Run.ID, TrajectoryID: &d.Trajectories[0].ID, All: true})
	wantCode(t, err, relabel.CodeConflict)
	judge := storetest.Policy(t, s, "judge")
	must(t, s.StartJudging(ctx, relabel.JudgeSelection{RunID: d.Run.ID}, judge.ID, judgePrompt, 0))
	if judged := value[relabel.ID](t, s, "SELECT min(trajectory_id::text)::uuid FROM judgings HAVING count(*) = 1"); judged != d.Trajectories[2].ID {
		t.Errorf("%s is judged", judged)
	}
}

func TestARolloutThatTheRuleEndedIsNoMemberOfAGroup(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := cutRollouts(t, s)
	for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID, MixedRewards: true}) {
		must(t, err)
		if len(e.Group.Rewards) != 2 {
			t.Errorf("the group has the rewards %v", e.Group.Rewards)
		}
	}
}

func TestTheDatabaseRefusesWhatARuleCannotEnd(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w") // of a dagger run
	for what, err := range map[string]error{
		"an end without a takeover": s.EndRollout(context.Background(), c.Fence, relabel.Ending{Reason: relabel.EndTeacherTurns}),
		"a dagger run": func() error {
			run := d.Run
			run.ID, run.Name, run.LabelRule = relabel.NewID(), "dagger", "teacher_turns:1"
			return s.CreateRun(context.Background(), run)
		}(),
	} {
		if err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

func TestASimulationKnowsWhichRolloutsTheRuleEnded(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	d := cutRollouts(t, s)
	cut, all := 0, 0
	must(t, s.EachLabelledTrajectory(t.Context(), d.Run.ID, false, func(tr relabel.LabelledTrajectory) error {
		all++
		if tr.Cut {
			cut++
		}
		return nil
	}))
	if cut != 1 || all != 2 { // one has no turns
		t.Errorf("%d of %d are cut", cut, all)
	}
}
