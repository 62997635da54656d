package pack

import "container/heap"

// rooms finds the bin with the least room that is enough: a segment tree over the amounts
// of room, whose leaves hold the bins that have just so much.
type rooms struct {
	leaves int       // power of two above the capacity
	count  []int32   // bins below each node; the children of node i are 2i and 2i+1, the root is 1
	bins   []numbers // by amount of room
}

func newRooms(capacity int) *rooms {
	leaves := 1
	for leaves <= capacity {
		leaves *= 2
	}
	return &rooms{leaves: leaves, count: make([]int32, 2*leaves), bins: make([]numbers, leaves)}
}

// put notes a bin's room.
func (r *rooms) put(bin, room int) {
	heap.Push(&r.bins[room], bin)
	r.add(room, 1)
}

// take removes and returns the bin with the least room of at least length, the lowest
// number among equals; -1 where there is none.
func (r *rooms) take(length int) (bin, room int) {
	room = r.atLeast(length)
	if room < 0 {
		return -1, 0
	}
	bin = heap.Pop(&r.bins[room]).(int)
	r.add(room, -1)
	return bin, room
}

func (r *rooms) add(room int, n int32) {
	for i := r.leaves + room; i > 0; i /= 2 {
		r.count[i] += n
	}
}

// atLeast returns the smallest amount of room from length upwards that a bin has, or -1:
// up the tree until a right-hand sibling has bins, then down its left-hand side.
func (r *rooms) atLeast(length int) int {
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

// numbers is a heap, the lowest first.
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
