package pack

import "container/heap"

// capacities finds the bin with the least sufficient remaining capacity. It is a segment tree
// over amounts of remaining capacity; each leaf holds the bins with that amount.
type capacities struct {
	leaves int       // power of two above the capacity
	count  []int32   // bins below each node; the children of node i are 2i and 2i+1, the root is 1
	bins   []numbers // by remaining capacity
}

func newCapacities(capacity int) *capacities {
	leaves := 1
	for leaves <= capacity {
		leaves *= 2
	}
	return &capacities{leaves: leaves, count: make([]int32, 2*leaves), bins: make([]numbers, leaves)}
}

// put records a bin's remaining capacity.
func (r *capacities) put(bin, room int) {
	heap.Push(&r.bins[room], bin)
	r.add(room, 1)
}

// take removes and returns the bin with the least remaining capacity of at least length, the
// lowest-numbered of equal ones; -1 if there is none.
func (r *capacities) take(length int) (bin, room int) {
	room = r.atLeast(length)
	if room < 0 {
		return -1, 0
	}
	bin = heap.Pop(&r.bins[room]).(int)
	r.add(room, -1)
	return bin, room
}

func (r *capacities) add(room int, n int32) {
	for i := r.leaves + room; i > 0; i /= 2 {
		r.count[i] += n
	}
}

// atLeast returns the smallest remaining capacity of at least length that a bin has, or -1.
// It walks up the tree until a right-hand sibling has bins, then down that subtree's
// left-hand side.
func (r *capacities) atLeast(length int) int {
	i := r.leaves + length
	if r.count[i] == 0 {
		for ; i%2 == 1 || r.count[i+1] == 0; i /= 2 {
			if i == 1 {
				return -1
			}
		}
		i++
	}
	for i < r.leaves {
		i *= 2
		if r.count[i] == 0 {
			i++
		}
	}
	return i - r.leaves
}

// numbers is a min-heap.
type numbers []int

func (n numbers) Len() int           { return len(n) }
func (n numbers) Less(i, j int) bool { return n[i] < n[j] }
func (n numbers) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }

// Push implements heap.Interface.
func (n *numbers) Push(x any) { *n = append(*n, x.(int)) }

// Pop implements heap.Interface.
func (n *numbers) Pop() any {
	last := (*n)[len(*n)-1]
	*n = (*n)[:len(*n)-1]
	return last
}
