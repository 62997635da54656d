package store_test

import (
	"context"
	"slices"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/store/storetest"
)

func TestRolloutsThatLocaliseAreReadWithTheirLists(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.SeedLocalise(t, s, 4)
	storetest.Localise(t, s, storetest.Claim(t, s, d.Trajectories[1].ID, "w"), 0.5, "b.go::g", "a.py")
	storetest.Localise(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 0)
	must(t, s.Fail(ctx, storetest.Claim(t, s, d.Trajectories[2].ID, "w").Fence, relabel.FailEndpoint, "gone"))
	var all []relabel.LocalisationRollout
	must(t, s.EachLocalisation(ctx, d.Iteration.ID, func(r relabel.LocalisationRollout) { all = append(all, r) }))
	if len(all) != 4 {
		t.Fatalf("%d rollouts", len(all))
	}
	for i, r := range all {
		if r.TaskID != d.Tasks[i].ID || r.Open != (i == 3) || r.Submitted != (i == 1) || (r.Score == nil) != (i > 1) {
			t.Errorf("rollout %d is %+v", i, r)
		}
	}
	if r := all[1]; *r.Score != 0.5 || !slices.Equal(r.Ranking, []string{"b.go::g", "a.py"}) || !slices.Equal(r.GoldFiles, []string{"a.py", "b.go"}) ||
		!slices.Equal(r.GoldFunctions, []string{"a.py::f", "b.go::g"}) || r.Turns != 2 || r.Calls != 2 || r.FailedCalls != 1 {
		t.Errorf("%+v", r)
	}
	if r := all[0]; *r.Score != 0 || len(r.Ranking) != 0 || r.Calls != 2 {
		t.Errorf("without a list: %+v", r)
	}
	report, err := evaluation.Localisation(ctx, s, d.Run.ID, nil)
	must(t, err)
	if of := report.Iterations[0]; of.Tasks != 2 || of.Ungraded != 1 || of.Open != 1 || of.Submitted.Count != 1 || of.Calls.Count != 2 || of.Calls.Of != 4 || of.Score.Mean != 0.25 || of.Functions.Recall1.Mean != 0.25 || of.Files.Recall5.Mean != 0.5 {
		t.Errorf("%+v", of)
	}
}

func TestRolloutsThatRepairAreNoLocalisations(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 1)
	report, err := evaluation.Localisation(ctx, s, d.Run.ID, nil)
	must(t, err)
	if len(report.Iterations) != 0 {
		t.Errorf("%+v", report)
	}
}
