package store_test

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

func TestChecksOfWeightsAreKeptWithTheirFingerprints(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	d := storetest.Seed(t, s, 1)
	taken := relabel.Fingerprint{BaseURL: "http://a/v1", Version: 1, Method: "completions", Able: true, Noise: 0.001, Texts: []int32{2}, Tokens: []string{"a\x00", "b"}, Logprobs: []float32{-0.5, -1.25}}
	silent := relabel.Fingerprint{BaseURL: "http://b/v1", Able: true, Reason: "refused"}
	check := relabel.WeightCheck{PolicyID: d.Iteration.StudentID, IterationID: &d.Iteration.ID, Occasion: relabel.WeightsAtStart, Result: relabel.WeightsDoubted,
		Tolerance: 0.03, Doubts: []relabel.Doubted{{Doubt: relabel.WeightsUnchecked, Text: "b", Allowed: true}}, Fingerprints: []relabel.Fingerprint{taken, silent}}
	must(t, s.AddWeightCheck(ctx, check))
	list, err := s.ListWeightChecks(ctx, relabel.WeightFilter{IterationID: &d.Iteration.ID}, 10)
	must(t, err)
	taken.Tokens = []string{"a␀", "b"}
	taken.SHA256 = taken.Hash()
	if len(list) != 1 || list[0].At.IsZero() || !reflect.DeepEqual(list[0].Fingerprints, []relabel.Fingerprint{taken, silent}) || !reflect.DeepEqual(list[0].Doubts, check.Doubts) {
		t.Errorf("%+v", list)
	}
	earlier, err := s.ListEarlierWeights(ctx, d.Run.ID, d.Iteration.StudentID, nil)
	must(t, err)
	if len(earlier) != 2 || earlier[0].Round != "collect 1" || earlier[1].Round != "" || !reflect.DeepEqual(earlier[0].Fingerprints[0], taken) {
		t.Errorf("earlier %+v", earlier)
	}
	if earlier, err = s.ListEarlierWeights(ctx, d.Run.ID, relabel.NewID(), &d.Iteration.ID); err != nil || len(earlier) != 0 {
		t.Errorf("without the iteration: %+v, %v", earlier, err)
	}
	exported, err := s.ExportWeightChecks(ctx, d.Run.ID, relabel.Collect, time.Now().Add(time.Hour))
	must(t, err)
	if len(exported[1]) != 1 || len(exported) != 1 || exported[1][0].Provenance().Fingerprints[0] != taken.SHA256 {
		t.Errorf("for an export: %+v", exported)
	}
	if exported, err = s.ExportWeightChecks(ctx, d.Run.ID, relabel.Collect, list[0].At.Add(-time.Second)); err != nil || len(exported) != 0 {
		t.Errorf("for an earlier export: %+v, %v", exported, err)
	}
	// Neither a check without fingerprints nor one with a doubt that was not allowed says what a version had.
	check.Fingerprints = []relabel.Fingerprint{silent}
	must(t, s.AddWeightCheck(ctx, check))
	check.Fingerprints, check.Doubts = []relabel.Fingerprint{taken}, []relabel.Doubted{{Doubt: relabel.WeightsDiffer, Text: "a and b"}}
	must(t, s.AddWeightCheck(ctx, check))
	if after, err := s.ListEarlierWeights(ctx, d.Run.ID, d.Iteration.StudentID, nil); err != nil || len(after) != 2 || after[0].Fingerprints[0].Noise != taken.Noise {
		t.Errorf("then %+v, %v", after, err)
	}
}

func TestAnIterationIsDueForACheckOncePerPeriodWhileItNeedsItsStudent(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	d := storetest.Seed(t, s, 1)
	taught := storetest.SeedWith(t, s, 1, func(d *storetest.Seeded) { d.Trajectories[0].Executors = "TTTTTT" })
	claim := func(period time.Duration, want int) {
		t.Helper()
		due, err := s.ClaimWeightChecks(ctx, period)
		must(t, err)
		for _, it := range due {
			if it.ID == taught.Iteration.ID {
				t.Errorf("a round of the teacher alone is due")
			}
		}
		if len(due) != want {
			t.Errorf("%d are due, want %d", len(due), want)
		}
	}
	claim(time.Hour, 1)
	claim(time.Hour, 0)
	claim(0, 1)
	_, err := s.PauseIteration(ctx, d.Iteration.ID, relabel.PausedByUser, "")
	must(t, err)
	claim(0, 0)
}

func TestAdaptersInUseAreKnown(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	d := storetest.Seed(t, s, 1)
	version := func(digit string) relabel.Policy {
		w := relabel.LoadedWeights{SHA256: strings.Repeat(digit, 64), Kind: relabel.WeightsAdapter, Path: "/a"}
		p, err := s.CreatePolicy(ctx, relabel.Policy{Name: "loaded", BaseURL: "http://a/v1", Replicas: []string{"http://b/v1"}, Model: w.Name(), Server: relabel.ServerVLLM,
			Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits, Weights: &w})
		must(t, err)
		if found, err := s.FindPolicy(ctx, p.ID); err != nil || found.Weights == nil || *found.Weights != w {
			t.Fatalf("stored %+v, %v", found.Weights, err)
		}
		return p
	}
	first, second, fourth, third := version("1"), version("2"), version("4"), version("3")
	it := d.Iteration
	it.ID, it.Number, it.StudentID = relabel.NewID(), 2, first.ID
	must(t, s.CreateIteration(ctx, relabel.PlannedIteration{Iteration: it, Trajectories: []relabel.Trajectory{{TaskID: d.Tasks[0].ID, Executors: "s"}}}))
	_, err := s.CreatePolicy(ctx, relabel.Policy{Name: "named by hand", BaseURL: "http://c/v1", Model: "base:" + fourth.Model, Server: relabel.ServerSGLang,
		Sampling: relabel.PaperSampling, Limits: relabel.DefaultPolicyLimits})
	must(t, err)
	want := map[string]bool{first.Model: true, second.Model: false, third.Model: true, fourth.Model: true}
	if got, err := s.ListLoaded(ctx); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("in use %v, want %v: %v", got, want, err)
	}
	users, err := s.ListAddressUsers(ctx, []string{"http://b/v1"})
	if want := d.Run.Name + ", collect 2"; err != nil || !reflect.DeepEqual(users, []string{want}) {
		t.Errorf("users %v, want %s: %v", users, want, err)
	}
}
