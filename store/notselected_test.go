package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// selectedTurns commits six turns, of which the label rule selected turn 3 with the probability 1/4 and the
// other two of the student not, and takes the trajectory to done.
func selectedTurns(t testing.TB, s *store.Store, d storetest.Seeded) relabel.Claim {
	t.Helper()
	ctx, quarter, none := context.Background(), 0.25, 0.0
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	label := storetest.Received(c.Teacher.ID, "action 3")
	for i := 1; i <= 6; i++ {
		turn := storetest.Turn(c, i, &label)
		switch i {
		case 1, 5:
			turn.Label = &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.NotSelected}
			turn.LabelChance = &none
		case 3:
			turn.LabelChance = &quarter
		}
		must(t, s.CommitTurn(ctx, c.Fence, turn))
		must(t, s.CommitTurn(ctx, c.Fence, turn)) // repeated by a worker that did not hear of it
	}
	wantCode(t, s.SettleLabel(ctx, c.Fence, 1, storetest.Received(c.Teacher.ID, "late")), relabel.CodeConflict)
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "empty_patch"}))
	return c
}

// ruled seeds a run that labels every fourth turn, whose first iteration does too.
func ruled(t testing.TB, s *store.Store) storetest.Seeded {
	return storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) { d.Run.LabelRule, d.Iteration.LabelRule = "every:4", "after_failure+0.25" })
}

func TestAStateThatTheRuleDidNotSelectIsStoredAndCountedApart(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := ruled(t, s)
	c := selectedTurns(t, s, d)
	if c.Run.LabelRule != "every:4" || c.Iteration.LabelRule != "after_failure+0.25" {
		t.Errorf("the claim has the rules %q and %q", c.Run.LabelRule, c.Iteration.LabelRule)
	}
	turns, err := s.ListTurns(ctx, c.TrajectoryID, 1, 10)
	must(t, err)
	for i, want := range []struct {
		status relabel.ActionStatus
		weight float64
	}{{relabel.NotSelected, 0}, {relabel.Received, 1}, {relabel.Received, 4}, {relabel.Received, 1}, {relabel.NotSelected, 0}, {relabel.Received, 1}} {
		if turn := turns[i]; turn.Label.Status != want.status || turn.LabelWeight() != want.weight || turn.Label.PolicyID != d.Teacher.ID {
			t.Errorf("turn %d: %+v with weight %v", turn.T, turn.Label, turn.LabelWeight())
		}
	}
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.LabelsReceived != 4 || tr.LabelsNotSelected != 2 || tr.LabelsMissing != 0 || tr.LabelsPending != 0 || tr.Ribbon != "sTaTsT" || *tr.Agreement != 1 {
		t.Errorf("trajectory %+v", tr)
	}
	figures, err := s.ListFigures(ctx, d.Run.ID)
	must(t, err)
	if f := figures[0]; f.Progress.LabelsNotSelected != 2 || f.Progress.LabelsReceived != 4 || f.Compared != 1 || f.Agreed != 1 {
		t.Errorf("figures %+v", f)
	}
	stored := labelledTrajectories(t, s, d.Run.ID, false)
	if states := stored[0].States; states[0].Status != relabel.NotSelected || states[2].Status != relabel.Received {
		t.Errorf("states %+v", states)
	}
}

func TestOtherTeachersAreAskedWhereTheRuleSelected(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := ruled(t, s)
	id := selectedTurns(t, s, d).TrajectoryID
	other := storetest.Policy(t, s, "other")
	re, err := s.RelabelTrajectory(ctx, id, other.ID, 0)
	must(t, err)
	c, err := s.ClaimRelabeling(ctx, "labeller", storetest.Lease)
	must(t, err)
	if re.Turns != 4 || re.Pending != 4 || len(c.Pending) != 4 || c.Pending[0] != 2 || c.Pending[1] != 3 {
		t.Fatalf("%d turns, pending are %v", re.Turns, c.Pending)
	}
	for _, turn := range c.Pending {
		must(t, s.SettleRelabel(ctx, c.RelabelFence, turn, answerOf(other.ID, turn)))
	}
	must(t, s.FinishRelabeling(ctx, c.RelabelFence))
	for e, err := range s.Exported(ctx, relabel.ExportSelection{RunID: d.Run.ID, LabelPolicyID: &other.ID}) {
		must(t, err)
		for _, turn := range e.Turns {
			want := relabel.Received
			if turn.T == 1 || turn.T == 5 {
				want = relabel.NotSelected
			}
			if turn.Label.Status != want || turn.Label.PolicyID != other.ID || turn.T == 3 && turn.LabelWeight() != 4 {
				t.Errorf("turn %d has the label %+v with weight %v", turn.T, turn.Label, turn.LabelWeight())
			}
		}
	}
}

func TestATrajectoryWithoutASelectedStateIsNotRelabelled(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) { d.Trajectories[0].Executors = "s" })
	c, none := storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 0.0
	turn := storetest.Turn(c, 1, nil)
	turn.Label, turn.LabelChance = &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.NotSelected}, &none
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "empty_patch"}))
	other := storetest.Policy(t, s, "other")
	_, err := s.RelabelTrajectory(ctx, c.TrajectoryID, other.ID, 0)
	wantCode(t, err, relabel.CodeConflict)
	_, err = s.RelabelIteration(ctx, d.Iteration.ID, other.ID, 0)
	wantCode(t, err, relabel.CodeConflict)
}

func TestADivergedAttemptTakesItsUnselectedStatesAlong(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := ruled(t, s)
	c, none := storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 0.0
	turn := storetest.Turn(c, 1, nil)
	turn.Label, turn.LabelChance = &relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.NotSelected}, &none
	must(t, s.CommitTurn(ctx, c.Fence, turn))
	must(t, s.Release(ctx, c.Fence))
	next := storetest.Claim(t, s, c.TrajectoryID, "v")
	if was := next.Turns[0]; was.Label.Status != relabel.NotSelected || was.LabelChance == nil || *was.LabelChance != 0 {
		t.Errorf("it continues with %+v", was)
	}
	must(t, s.Diverge(ctx, next.Fence, 1, "turn 1: the working tree is another one"))
	tr, err := s.FindTrajectory(ctx, c.TrajectoryID)
	must(t, err)
	if tr.Turns != 0 || tr.LabelsNotSelected != 0 {
		t.Errorf("trajectory %+v", tr)
	}
}
