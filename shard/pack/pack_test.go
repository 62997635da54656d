package pack

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// plain is best-fit-decreasing as one would write it down, in quadratic time.
func plain(items []Item, limits Limits) (bins [][]int) {
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return items[b].Length - items[a].Length })
	var full []int
	for _, i := range order {
		if items[i].Length > limits.Bin || items[i].Longest > limits.Path {
			continue
		}
		best := -1
		for b := range bins {
			if full[b]+items[i].Length <= limits.Bin && (best < 0 || full[b] > full[best]) {
				best = b
			}
		}
		if best < 0 {
			best, bins, full = len(bins), append(bins, nil), append(full, 0)
		}
		bins[best], full[best] = append(bins[best], i), full[best]+items[i].Length
	}
	return bins
}

func drawItems(t *rapid.T, most int) []Item {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) Item {
		length := rapid.IntRange(1, most).Draw(t, "length")
		return Item{length, rapid.IntRange(1, length).Draw(t, "longest")}
	})).Draw(t, "items")
}

func TestBinsAreThoseOfThePlainForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{rapid.IntRange(1, 70).Draw(t, "bin"), rapid.IntRange(1, 70).Draw(t, "path")}
		items := drawItems(t, 75)
		bins, over := Pack(items, limits)
		if want := plain(items, limits); fmt.Sprint(bins) != fmt.Sprint(want) {
			t.Fatalf("got %v, want %v", bins, want)
		}
		seen := make([]int, len(items))
		for _, bin := range bins {
			tokens := 0
			for _, i := range bin {
				seen[i]++
				tokens += items[i].Length
				if items[i].Longest > limits.Path {
					t.Fatalf("item %d is too long a way: %+v", i, items[i])
				}
			}
			if tokens > limits.Bin || tokens == 0 {
				t.Fatalf("a bin of %d tokens", tokens)
			}
		}
		for _, i := range over {
			seen[i]++
			if items[i].Length <= limits.Bin && items[i].Longest <= limits.Path {
				t.Fatalf("item %d fits: %+v", i, items[i])
			}
		}
		if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
			t.Fatalf("items are not each in one place: %v", seen)
		}
	})
}

func TestTheTwoLimitsStandApart(t *testing.T) {
	items := []Item{{8, 3}, {8, 5}, {11, 3}, {2, 2}}
	bins, over := Pack(items, Limits{Bin: 10, Path: 4})
	if fmt.Sprint(bins, over) != "[[0 3]] [1 2]" {
		t.Errorf("bins %v, over %v", bins, over)
	}
	if f := fill(items, bins, 10); f != 1 {
		t.Errorf("fill %v", f)
	}
	if bins, over := Pack(nil, Limits{10, 10}); bins != nil || over != nil || fill(nil, nil, 10) != 1 {
		t.Errorf("nothing was packed into %v, %v over", bins, over)
	}
}
