package tokenizer

import "math/bits"

// merge is the result of merging two neighbours, and its rank; lower ranks merge first.
type merge struct{ rank, id int32 }

// noMerge is the merge of tokens that do not merge.
var noMerge = merge{rank: 1<<31 - 1, id: -1}

// mergeTable maps two tokens to their merge. It is a hash table with open addressing, for speed:
// every pair of neighbours of every new word is looked up.
type mergeTable struct {
	keys   []uint64 // left and right; emptyPair: unused
	merges []merge
	shift  uint
}

const emptyPair = ^uint64(0)

func newMergeTable(n int) mergeTable {
	size := uint64(1) << bits.Len64(uint64(2*n+1)) // at most half full
	t := mergeTable{keys: make([]uint64, size), merges: make([]merge, size), shift: uint(64 - bits.TrailingZeros64(size))}
	for i := range t.keys {
		t.keys[i] = emptyPair
	}
	return t
}

func pairOf(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

// slot returns the index of a pair, or the unused index where it belongs.
func (t *mergeTable) slot(pair uint64) uint64 {
	mask := uint64(len(t.keys) - 1)
	i := pair * 0x9e3779b97f4a7c15 >> t.shift
	for t.keys[i] != pair && t.keys[i] != emptyPair {
		i = (i + 1) & mask
	}
	return i
}

// set adds a merge. It replaces an earlier merge of the same tokens.
func (t *mergeTable) set(left, right int32, m merge) {
	pair := pairOf(left, right)
	i := t.slot(pair)
	t.keys[i], t.merges[i] = pair, m
}

// get returns the merge of two tokens, or noMerge.
func (t *mergeTable) get(left, right int32) merge {
	pair := pairOf(left, right)
	if i := t.slot(pair); t.keys[i] == pair {
		return t.merges[i]
	}
	return noMerge
}
