package store_test

import (
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

func TestImagesOfATaskSetAreCheckedOnceAndSummed(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := t.Context()
	seeded := seedImages(t, s, "checks", "one", "two", "two", "gone")
	set := seeded.Taskset.ID
	sums, err := s.SumTasksetImages(ctx, set)
	must(t, err)
	if sums.Images != 3 || sums.Tasks != 4 || len(sums.States) != 0 {
		t.Errorf("before a check: %+v", sums)
	}
	must(t, s.RequestImageChecks(ctx, set))
	first, err := s.ClaimImageChecks(ctx, 2, time.Minute)
	must(t, err)
	second, err := s.ClaimImageChecks(ctx, 5, time.Minute)
	must(t, err)
	if len(first) != 2 || len(second) != 1 {
		t.Fatalf("two workers check %q and %q", first, second)
	}
	shared := relabel.Layer{Digest: "shared", Bytes: 100}
	must(t, s.FinishImageCheck(ctx, "one", relabel.ImageFacts{State: relabel.ImageAvailable, Layers: []relabel.Layer{shared, {Digest: "a", Bytes: 1}}}))
	must(t, s.FinishImageCheck(ctx, "two", relabel.ImageFacts{State: relabel.ImageAvailable, Layers: []relabel.Layer{shared, {Digest: "b", Bytes: 2}}}))
	must(t, s.FinishImageCheck(ctx, "gone", relabel.ImageFacts{State: relabel.ImageMissing, Problem: "the registry does not have it"}))
	sums, err = s.SumTasksetImages(ctx, set)
	must(t, err)
	if sums.Available != 103 || sums.Separate != 203 || sums.States[relabel.ImageAvailable] != 2 || sums.States[relabel.ImageMissing] != 1 {
		t.Errorf("sums: %+v", sums)
	}
	missing, next, err := s.ListTasksetImages(ctx, set, relabel.ImageMissing, relabel.Page{})
	must(t, err)
	if len(missing) != 1 || missing[0].Image != "gone" || missing[0].Problem == "" || missing[0].CheckedAt == nil || next != "" {
		t.Errorf("missing: %+v, %q", missing, next)
	}
	page, next, err := s.ListTasksetImages(ctx, set, "", relabel.Page{Limit: 2})
	must(t, err)
	rest, _, err := s.ListTasksetImages(ctx, set, "", relabel.Page{Limit: 2, After: next})
	must(t, err)
	if len(page) != 2 || len(rest) != 1 || page[0].Image != "gone" || rest[0].Image != "two" || rest[0].Tasks != 2 || rest[0].Bytes != 102 {
		t.Errorf("pages: %+v, %+v", page, rest)
	}
	must(t, s.RequestImageChecks(ctx, set))
	if again, err := s.ClaimImageChecks(ctx, 5, time.Minute); err != nil || len(again) != 3 {
		t.Errorf("a second request checks %q, %v", again, err)
	}
}

func TestAnImageCheckOfADeadWorkerIsRepeated(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := t.Context()
	must(t, s.RequestImageChecks(ctx, seedImages(t, s, "dead", "one").Taskset.ID))
	for range 2 { // the reservation of the first has ended
		if images, err := s.ClaimImageChecks(ctx, 5, 0); err != nil || len(images) != 1 {
			t.Fatalf("claimed %q, %v", images, err)
		}
	}
}
