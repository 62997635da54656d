package store_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"relabel"
	"relabel/store"
	"relabel/store/storetest"
)

// TestLabelledTrajectoriesHaveWhatRulesDependOn has a done trajectory, one that has not ended, and an
// evaluation.
func TestLabelledTrajectoriesHaveWhatRulesDependOn(t *testing.T) {
	t.Parallel()
	ctx, s := context.Background(), storetest.New(t)
	d := storetest.Seed(t, s, 2)
	storetest.Claim(t, s, d.Trajectories[1].ID, "other")
	c := storetest.Claim(t, s, d.Trajectories[0].ID, "w")
	one := 1
	label := storetest.Received(c.Teacher.ID, "label")
	label.Usage = &relabel.Usage{PromptTokens: 30, CompletionTokens: 4, CachedTokens: 20}
	first := storetest.Turn(c, 1, &label)
	first.Action.TokenIDs, first.Action.Logprobs = []int32{5, 6}, []float32{-0.5, -1}
	first.Observations = []relabel.Observation{{Content: "fine"}, {Content: "an error", ExitCode: &one}}
	second := storetest.Turn(c, 2, nil)
	second.Action.TokenIDs, second.Action.Logprobs = []int32{5}, []float32{-3}
	second.Observations[0].Failed = true
	missing := relabel.Action{PolicyID: c.Teacher.ID, Status: relabel.Missing, Reason: "endpoint: gone"}
	zero := 0
	third := storetest.Turn(c, 3, &missing)
	third.Observations[0].ExitCode = &zero
	same := storetest.Received(c.Teacher.ID, "action 5")
	for _, turn := range []relabel.Turn{first, second, third, storetest.Turn(c, 4, nil), storetest.Turn(c, 5, &same)} {
		must(t, s.CommitTurn(ctx, c.Fence, turn))
	}
	must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns}))
	must(t, s.BeginVerifying(ctx, c.Fence))
	must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: "empty_patch"}))

	got := labelledTrajectories(t, s, d.Run.ID, true)
	yes, no, uncertain := true, false, 0.75
	want := relabel.LabelledTrajectory{IterationID: d.Iteration.ID, TaskID: d.Trajectories[0].TaskID, InstanceID: c.Trajectory.InstanceID, Executors: "sTsTsT", States: []relabel.LabelledState{
		{Status: relabel.Received, Agrees: &no, Usage: label.Usage, Uncertainty: &uncertain},
		{Status: relabel.Received, AfterFailure: true}, // of the teacher, whose log-probabilities do not count
		{Status: relabel.Missing, AfterFailure: true},
		{Status: relabel.Received}, // an exit code of 0 is not a failure
		{Status: relabel.Received, Agrees: &yes},
	}}
	if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v, not %+v", got, want)
	}
	without := labelledTrajectories(t, s, d.Run.ID, false)
	want.States[0].Uncertainty = nil
	if len(without) != 1 || !reflect.DeepEqual(without[0], want) {
		t.Errorf("without log-probabilities: %+v", without)
	}
	if none := labelledTrajectories(t, s, relabel.NewID(), false); len(none) != 0 {
		t.Errorf("of another run: %+v", none)
	}
	stop := errors.New("enough")
	if err := s.EachLabelledTrajectory(ctx, d.Run.ID, false, func(relabel.LabelledTrajectory) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
	exec(t, s, "ALTER TABLE turns DISABLE TRIGGER ALL")
	exec(t, s, "DELETE FROM turns WHERE t = 2")
	err := s.EachLabelledTrajectory(ctx, d.Run.ID, false, func(relabel.LabelledTrajectory) error { return nil })
	if relabel.CodeOf(err) != relabel.CodeInternal {
		t.Errorf("states of a trajectory without its second turn: %v", err)
	}
}

// labelledTrajectories lists what is visited.
func labelledTrajectories(t *testing.T, s *store.Store, run relabel.ID, logprobs bool) (all []relabel.LabelledTrajectory) {
	t.Helper()
	must(t, s.EachLabelledTrajectory(context.Background(), run, logprobs, func(tr relabel.LabelledTrajectory) error {
		all = append(all, tr)
		return nil
	}))
	return all
}
