// Package pack puts rows into bins of a fixed capacity, so that a trainer pads nothing.
package pack

import (
	"cmp"
	"slices"
)

// Item is what is packed: a sequence, or a tree.
type Item struct {
	Length  int // tokens that it occupies in a bin
	Longest int // tokens of its longest path from root to leaf, i.e. positions the model needs; equals Length for a sequence
}

// Limits are the capacity of a bin and the maximum path length within it, both in tokens: a
// model with 32k positions may train on bins of 128k.
type Limits struct{ Bin, Path int }

// Pack packs the items into bins by best-fit decreasing: longest item first, each into the
// fullest bin with enough capacity left, otherwise into a new bin. It returns the item
// numbers in each bin, and the items that exceed a limit by themselves, which are in no bin.
// Ties are resolved by item and bin number, so the same items give the same bins. It takes
// O(n log n + Bin) time for n items.
func Pack(items []Item, limits Limits) (bins [][]int, over []int) {
	order := make([]int, 0, len(items))
	for i, it := range items {
		if it.Length > limits.Bin || it.Longest > limits.Path {
			over = append(over, i)
		} else {
			order = append(order, i)
		}
	}
	if len(order) == 0 {
		return nil, over
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(items[b].Length, items[a].Length), cmp.Compare(a, b))
	})
	open := newCapacities(limits.Bin)
	for _, i := range order {
		length := items[i].Length
		bin, room := open.take(length)
		if bin < 0 {
			bin, room = len(bins), limits.Bin
			bins = append(bins, nil)
		}
		bins[bin] = append(bins[bin], i)
		open.put(bin, room-length)
	}
	return bins, over
}
