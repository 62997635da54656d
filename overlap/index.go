package overlap

import (
	"cmp"
	"slices"
)

// Index finds the patches that overlap with a given one among many. Its zero value is empty and ready to use. Any
// number of goroutines may call Find while none calls Add.
type Index struct {
	sizes  []int              // grams of each patch, by its number
	having map[uint64][]int32 // the numbers of the patches that have a gram
}

// Match is a patch of an index that overlaps with another one.
type Match struct {
	Number int     // as Add returned it
	Common int     // grams that both have
	Share  float64 // as Share computes it
}

// Add adds the grams of a patch and returns its number: 0, 1, 2, …
func (x *Index) Add(grams Grams) int {
	if x.having == nil {
		x.having = map[uint64][]int32{}
	}
	number := len(x.sizes)
	x.sizes = append(x.sizes, len(grams))
	for _, g := range grams {
		x.having[g] = append(x.having[g], int32(number))
	}
	return number
}

// Find returns the patches whose share with grams is at least threshold (above 0, at most 1), largest share first, then by number.
func (x *Index) Find(grams Grams, threshold float64) []Match {
	common := map[int32]int{}
	for _, g := range grams {
		for _, number := range x.having[g] {
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
