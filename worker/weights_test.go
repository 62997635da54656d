package worker_test

import (
	"context"
	"testing"
	"time"

	"relabel"
	"relabel/policy"
	"relabel/policy/weightstest"
	"relabel/store/storetest"
	"relabel/worker"
)

func TestAnIterationWhoseStudentChangesIsPausedUntilThatIsAllowed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := storetest.New(t)
	server := weightstest.New(t, "checkpoint 1")
	student, err := db.CreatePolicy(ctx, relabel.Policy{Name: "served", Model: "base", Server: relabel.ServerVLLM, BaseURL: server.Base(),
		Sampling: relabel.PaperSampling.Pinned(relabel.ServerVLLM), Limits: relabel.DefaultPolicyLimits})
	if err != nil {
		t.Fatal(err)
	}
	d := storetest.SeedWith(t, db, 1, func(d *storetest.Seeded) { d.Iteration.StudentID = student.ID })
	fingerprints := func(ctx context.Context, p relabel.Policy) ([]relabel.Fingerprint, error) {
		return policy.TakeFingerprints(ctx, p, policy.Options{})
	}
	check := func(wantPaused bool, wantChecks int) []relabel.WeightCheck {
		t.Helper()
		watch, err := worker.NewWeightWatch(worker.WeightWatchConfig{Store: due{db}, Fingerprints: fingerprints})
		if err != nil {
			t.Fatal(err)
		}
		if err := watch.RunNow(ctx); err != nil {
			t.Fatal(err)
		}
		it, _, err := db.FindIteration(ctx, d.Iteration.ID)
		if err != nil || (it.Paused != nil) != wantPaused || wantPaused && it.Paused.Reason != relabel.PausedByWeights {
			t.Fatalf("paused %+v, %v", it.Paused, err)
		}
		checks, err := db.ListWeightChecks(ctx, relabel.WeightFilter{IterationID: &it.ID}, 10)
		if err != nil || len(checks) != wantChecks {
			t.Fatalf("%d checks, want %d: %v", len(checks), wantChecks, err)
		}
		return checks
	}
	check(false, 0) // an iteration of an earlier version has nothing to compare with
	unreachable := relabel.JudgeWeights(student, relabel.NoFingerprints(student, relabel.Errorf(relabel.CodeSecretMissing, "no key")), nil, true)
	unreachable.IterationID, unreachable.Occasion = &d.Iteration.ID, relabel.WeightsAtStart
	unreachable.Allow([]relabel.WeightDoubt{relabel.WeightsUnchecked})
	if err := db.AddWeightCheck(ctx, unreachable); err != nil {
		t.Fatal(err)
	}
	if first := check(false, 2)[0]; first.Occasion != relabel.WeightsInBetween || first.Result != relabel.WeightsChecked {
		t.Errorf("the worker's first check is %+v", first)
	}
	check(false, 2) // the same weights are not stored again
	server.SetWeights("checkpoint 2")
	if changed := check(true, 3)[0]; !changed.Has(relabel.WeightsChanged) || changed.Doubts[0].Allowed {
		t.Errorf("the change is %+v", changed)
	}
	if _, err := db.ResumeIteration(ctx, d.Iteration.ID); err != nil { // as if the check at the resume were left out
		t.Fatal(err)
	}
	check(true, 4)
	server.SetWeights("checkpoint 1")
	if _, err := db.ResumeIteration(ctx, d.Iteration.ID); err != nil {
		t.Fatal(err)
	}
	check(false, 4)
	server.Close()
	check(false, 4) // an outage is not a change
}

// due is a store whose iterations are always due.
type due struct{ worker.WeightStore }

func (d due) ClaimWeightChecks(ctx context.Context, _ time.Duration) ([]relabel.Iteration, error) {
	return d.WeightStore.ClaimWeightChecks(ctx, 0)
}
