package store_test

import (
	"context"
	"testing"

	"relabel"
	"relabel/evaluation"
	"relabel/store/storetest"
)

func TestResultsOfAnEvaluationAreThoseOfItsTasks(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 4)
	plans := []relabel.PlannedIteration{evaluationOf(d, 1, d.Tasks...), evaluationOf(d, 2, d.Tasks...), evaluationOf(d, 3, d.Tasks[0])}
	for _, p := range plans {
		must(t, s.CreateIteration(ctx, p))
	}
	storetest.Finish(t, s, storetest.Claim(t, s, plans[0].Trajectories[0].ID, "w"), 1, true)
	storetest.Finish(t, s, storetest.Claim(t, s, plans[0].Trajectories[1].ID, "w"), 1, false)
	must(t, s.Fail(ctx, storetest.Claim(t, s, plans[0].Trajectories[2].ID, "w").Fence, relabel.FailEnvironment, "the engine is gone"))
	storetest.Finish(t, s, storetest.Claim(t, s, plans[0].Trajectories[3].ID, "w"), 1, false)
	storetest.Finish(t, s, storetest.Claim(t, s, plans[1].Trajectories[1].ID, "w"), 1, true)
	for _, i := range []int{0, 2, 3} {
		must(t, s.Fail(ctx, storetest.Claim(t, s, plans[1].Trajectories[i].ID, "w").Fence, relabel.FailEnvironment, "the engine is gone"))
	}
	its, err := s.ListIterations(ctx, d.Run.ID)
	must(t, err)
	report, err := evaluation.Report(ctx, s, d.Run.ID, its)
	must(t, err)
	if len(report.Evaluations) != 3 || len(report.Comparisons) != 1 {
		t.Fatalf("%+v", report)
	}
	e := report.Evaluations[0]
	if e.Tasks != 4 || e.Resolved.Count != 1 || e.Resolved.Of != 3 || e.Infrastructure != 1 || e.Open != 0 || e.Ungraded != 1 || report.Evaluations[2].Open != 1 || e.Student != d.Student.Name+"@1" {
		t.Errorf("%+v", e)
	}
	c := report.Comparisons[0]
	if c.IterationID != plans[1].Iteration.ID || c.WithID != plans[0].Iteration.ID || c.Tasks != 1 || c.Ungraded != 3 || c.Better != 1 || *c.Difference != 1 || c.Low != nil || c.High != nil {
		t.Errorf("%+v", c)
	}
	first, _, err := s.FindIteration(ctx, plans[0].Iteration.ID)
	must(t, err)
	third, _, err := s.FindIteration(ctx, plans[2].Iteration.ID)
	must(t, err)
	for _, pair := range [][2]relabel.Iteration{{first, third}, {first, d.Iteration}, {d.Iteration, first}} {
		_, err := evaluation.CompareStored(ctx, s, pair[0], pair[1])
		wantCode(t, err, relabel.CodeInvalid)
	}
}

// The tasks that end first are those with short trajectories.
func TestOnlyEvaluationsThatAreDoneAreCompared(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.Seed(t, s, 2)
	var plans []relabel.PlannedIteration
	for i, ended := range []int{2, 1, 1, 2} { // the second is cancelled, the third runs
		p := evaluationOf(d, i+1, d.Tasks...)
		must(t, s.CreateIteration(ctx, p))
		for _, tr := range p.Trajectories[:ended] {
			storetest.Finish(t, s, storetest.Claim(t, s, tr.ID, "w"), 1, i > 0)
		}
		plans = append(plans, p)
	}
	_, err := s.CancelIteration(ctx, plans[1].Iteration.ID)
	must(t, err)
	its, err := s.ListIterations(ctx, d.Run.ID)
	must(t, err)
	report, err := evaluation.Report(ctx, s, d.Run.ID, its)
	must(t, err)
	if len(report.Evaluations) != 4 || len(report.Comparisons) != 1 {
		t.Fatalf("%+v", report)
	}
	if c := report.Comparisons[0]; c.IterationID != plans[3].Iteration.ID || c.WithID != plans[0].Iteration.ID || c.Better != 2 {
		t.Errorf("%+v", c)
	}
}

// Of four rollouts two are verified: one is resolved, one submitted nothing. Of the others one submitted
// nothing either, but is not graded: the rest of the unverified ones might be resolved.
func TestASampleGradesOnlyWhatIsVerified(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	d := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) {
		samples(4)(d)
		d.Iteration.Verify = "sample:2"
		d.Trajectories[2].SkipVerify, d.Trajectories[3].SkipVerify = true, true
	})
	storetest.Finish(t, s, storetest.Claim(t, s, d.Trajectories[0].ID, "w"), 1, true)
	for i, submitted := range []bool{false, false, true} {
		c := storetest.Claim(t, s, d.Trajectories[i+1].ID, "w")
		must(t, s.EndRollout(ctx, c.Fence, relabel.Ending{Reason: relabel.EndMaxTurns, Submitted: submitted, Patch: []byte("diff")}))
		must(t, s.BeginVerifying(ctx, c.Fence))
		if i == 0 {
			must(t, s.Finish(ctx, c.Fence, relabel.Verdict{Reason: relabel.VerdictEmptyPatch}))
			continue
		}
		must(t, s.FinishUnverified(ctx, c.Fence))
	}
	its, err := s.ListIterations(ctx, d.Run.ID)
	must(t, err)
	report, err := evaluation.Report(ctx, s, d.Run.ID, its)
	must(t, err)
	if len(report.Samples) != 1 || len(report.Evaluations) != 0 {
		t.Fatalf("%+v", report)
	}
	r := report.Samples[0]
	if r.Resolved.Count != 1 || r.Resolved.Of != 2 || r.Unverified != 2 || r.Infrastructure != 0 || r.Generations != 4 || r.Run != d.Run.Name {
		t.Errorf("%+v", r)
	}
	if p := r.PassAtK; len(p) != 3 || *p[0].Value != 0.5 || *p[1].Value != 1 || p[2].Value != nil || p[2].Short != 1 {
		t.Errorf("pass@k %+v", p)
	}
}
