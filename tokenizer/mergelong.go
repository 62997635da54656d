package tokenizer

// candidate is a queued merge of a long word. It is obsolete if its left symbol has another right
// neighbour by then.
type candidate struct {
	merge
	left, right int32 // positions
}

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.left < d.left
}

// candidates is a heap with the first in order on top.
type candidates []candidate

func (h *candidates) push(c candidate) {
	*h = append(*h, c)
	q := *h
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !c.before(q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = c
}

func (h *candidates) pop() candidate {
	q := *h
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	if len(q) > 0 {
		q.sink(last)
	}
	return top
}

// sink replaces the top by c and moves it down to its position.
func (h candidates) sink(c candidate) {
	i := 0
	for {
		least := -1
		for child := 4*i + 1; child <= 4*i+4 && child < len(h); child++ {
			if least < 0 || h[child].before(h[least]) {
				least = child
			}
		}
		if least < 0 || !h[least].before(c) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = c
}

// link holds a symbol's neighbours; −1 for none.
type link struct{ previous, next int32 }

// mergeLong merges like mergeShort, in time n log n.
func (m *model) mergeLong(ids []int32) int {
	links := make([]link, len(ids))
	queue := make(candidates, 0, len(ids))
	for i := range ids {
		links[i] = link{int32(i - 1), int32(i + 1)}
	}
	links[len(ids)-1].next = -1
	offer := func(left, right int32) {
		if c := m.merges.get(ids[left], ids[right]); c.id >= 0 {
			queue.push(candidate{c, left, right})
		}
	}
	for i := range int32(len(ids) - 1) {
		offer(i, i+1)
	}
	const gone = -1
	for len(queue) > 0 {
		c := queue.pop()
		if ids[c.left] == gone || links[c.left].next != c.right || m.merges.get(ids[c.left], ids[c.right]) != c.merge {
			continue
		}
		ids[c.left], ids[c.right] = c.id, gone
		next, previous := links[c.right].next, links[c.left].previous
		links[c.left].next = next
		if next >= 0 {
			links[next].previous = c.left
			offer(c.left, next)
		}
		if previous >= 0 {
			offer(previous, c.left)
		}
	}
	n := 0
	for _, id := range ids {
		if id != gone {
			ids[n] = id
			n++
		}
	}
	return n
}
