package overlap

import (
	"cmp"
	"slices"
)

// Index finds the patches that overlap with a given one among many. Its zero value is empty and ready to use. Any
// number of goroutines may call Find while none calls Add.
type Index struct {
	sizes []int // grams of each patch, by its number
	// The first patch that has a gram, and the further ones: most grams are in one patch only.
	first   map[uint64]int32
	further map[uint64][]int32
}

// Match is a patch of an index that overlaps with another one.
type Match struct {
	Number int     // as Add returned it
	Common int     // grams that both have
	Share  float64 // as Share computes it
}

// Add adds the grams of a patch and returns its number: 0, 1, 2, …
func (x *Index) Add(grams Grams) int {
	if x.first == nil {
		x.first, x.further = map[uint64]int32{}, map[uint64][]int32{}
	}
	number := len(x.sizes)
	x.sizes = append(x.sizes, len(grams))
	for _, g := range grams {
		if _, known := x.first[g]; known {
			x.further[g] = append(x.further[g], int32(number))
		} else {
			x.first[g] = int32(number)
		}
	}
	return number
}

// Find returns the patches whose share with grams is at least threshold (above 0, at most 1), largest share first, then by number.
func (x *Index) Find(grams Grams, threshold float64) []Match {
	common := map[int32]int{}
	for _, g := range grams {
		first, known := x.first[g]
		if !known {
			continue
		}
		common[first]++
		for _, number := range x.further[g] {
			common[number]++
		}
	}
	var matches []Match
	for number, n := range common {
		if share := shareOf(n, len(grams), x.sizes[number]); share >= threshold {
			matches = append(matches, Match{int(number), n, share})
		}
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Number, b.Number))
	})
	return matches
}
