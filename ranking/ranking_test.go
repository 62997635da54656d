package ranking

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The worked example of docs/localisation.md.
func TestFiguresOfAWorkedExample(t *testing.T) {
	f, known := Of([]string{"a", "x"}, []string{"a", "b"})
	want := Figures{Recall1: 0.5, Recall3: 0.5, Recall5: 0.5, AP: 0.5, RR: 1, NDCG5: 1 / (1 + 1/math.Log2(3))}
	if !known || f != want || math.Abs(f.NDCG5-0.6131) > 5e-5 {
		t.Errorf("%+v, want %+v", f, want)
	}
	if f, known := Of([]string{"x"}, []string{"a"}); !known || f != (Figures{}) {
		t.Errorf("a miss: %+v %v", f, known)
	}
}

// With its duplicate, the list's nDCG@5 would be 1.63.
func TestDuplicatesCountOnce(t *testing.T) {
	f, _ := Of([]string{"a", "a"}, []string{"a"})
	if want := (Figures{1, 1, 1, 1, 1, 1}); f != want {
		t.Errorf("%+v, want %+v", f, want)
	}
	if f, _ := Of([]string{"x", "a"}, []string{"b", "a", "b"}); f.Recall5 != 0.5 {
		t.Errorf("gold counts twice: %+v", f)
	}
}

func TestFilesAreRankedByTheirFirstFunction(t *testing.T) {
	got := Files([]string{"b.py::f", "a.py", "b.py::C.g", "a.py::h", "c.cc::ns::f"})
	if want := []string{"b.py", "a.py", "c.cc"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// entries draws a list of few names, so that lists and gold have some in common.
var entries = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}), 0, 12)

func TestFiguresHaveTheirProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, gold := entries.Draw(t, "list"), entries.Draw(t, "gold")
		f, known := Of(list, gold)
		if known != (len(gold) > 0) {
			t.Fatalf("known: %v", known)
		}
		for _, v := range f.Values() {
			if v < 0 || v > 1+1e-12 {
				t.Fatalf("%v is no share", f)
			}
		}
		if f.Recall1 > f.Recall3 || f.Recall3 > f.Recall5 {
			t.Fatalf("recall falls: %v", f)
		}
		if again, _ := Of(Deduplicate(list), Deduplicate(gold)); again != f {
			t.Fatalf("%v without duplicates, %v with", again, f)
		}
		if n, _ := NDCG(list, gold, 5); n != f.NDCG5 {
			t.Fatalf("nDCG@5 %v, %v", n, f.NDCG5)
		}
	})
}

func TestGoldItselfIsPerfect(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gold := entries.Filter(func(e []string) bool { return len(e) > 0 }).Draw(t, "gold")
		f, _ := Of(gold, gold)
		if f.AP != 1 || f.RR != 1 || f.NDCG5 != 1 {
			t.Fatalf("%+v", f)
		}
	})
}

func TestABetterPlaceIsNeverWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := Deduplicate(entries.Draw(t, "list"))
		at := slices.Index(list, "a")
		if at < 1 || list[at-1] == "b" {
			return
		}
		gold := []string{"a", "b"}
		before, _ := Of(list, gold)
		list[at-1], list[at] = list[at], list[at-1]
		after, _ := Of(list, gold)
		for i, v := range after.Values() {
			if v < before.Values()[i] {
				t.Fatalf("%v, before %v", after, before)
			}
		}
		if at <= 5 && after.NDCG5 <= before.NDCG5 {
			t.Fatalf("nDCG@5 %v, before %v", after.NDCG5, before.NDCG5)
		}
	})
}
