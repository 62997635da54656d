package store_test

import (
	"context"
	"reflect"
	"testing"

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
	// Neither a check without fingerprints nor one whose addresses differ says what a version had.
	check.Fingerprints = []relabel.Fingerprint{silent}
	must(t, s.AddWeightCheck(ctx, check))
	check.Fingerprints, check.Doubts = []relabel.Fingerprint{taken}, []relabel.Doubted{{Doubt: relabel.WeightsDiffer, Text: "a and b"}}
	must(t, s.AddWeightCheck(ctx, check))
	if after, err := s.ListEarlierWeights(ctx, d.Run.ID, d.Iteration.StudentID, nil); err != nil || len(after) != 2 || after[0].Fingerprints[0].Noise != taken.Noise {
		t.Errorf("then %+v, %v", after, err)
	}
}
