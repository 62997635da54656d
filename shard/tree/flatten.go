package tree

// Forest is a row of the tree view: concatenated trees, each in depth-first preorder, a leaf
// before the rest of the trunk. Token q attends to token k if k <= q < SubtreeEnd[k], i.e. to
// itself and its ancestors only.
type Forest struct {
	IDs        []int32
	Positions  []int32 // depth: the number of tokens seen before this one
	SubtreeEnd []int32 // index after the last token that attends to this one
	NodeStart  []int32 // nodes cover the row without gaps
	NodeParent []int32 // number of the parent node, -1 for a root
	NodeKind   []Kind
	Spans      []Span // Start counts from the row's first token
}

// Reset empties the forest and keeps its memory.
func (f *Forest) Reset() {
	f.IDs, f.Positions, f.SubtreeEnd = f.IDs[:0], f.Positions[:0], f.SubtreeEnd[:0]
	f.NodeStart, f.NodeParent, f.NodeKind, f.Spans = f.NodeStart[:0], f.NodeParent[:0], f.NodeKind[:0], f.Spans[:0]
}

// Add appends a tree to the row. The subtree of every trunk token ends with the tree, because
// everything later continues from it; the subtree of a leaf's tokens ends with the leaf.
func (f *Forest) Add(r *Root) {
	end := len(f.IDs) + r.Tokens()
	above, done := -1, 0
	spans := r.spans
	trunk := func(to int) { // the trunk's next node, its labels in it
		if to == done {
			return
		}
		shift := len(f.IDs) - done
		above = f.node(Trunk, above, r.trunk[done:to], done, end)
		for done = to; len(spans) > 0 && spans[0].End() <= to; spans = spans[1:] {
			f.span(spans[0], shift)
		}
	}
	for _, l := range r.leaves {
		trunk(l.at)
		start := len(f.IDs)
		f.node(Leaf, above, l.ids, l.at, start+len(l.ids))
		f.span(l.span, start-l.at)
	}
	trunk(len(r.trunk))
}

// Pad fills the row up to a length with a separate node, whose tokens attend to themselves
// only. A row that is long enough stays unchanged.
func (f *Forest) Pad(length int, id int32) {
	if len(f.IDs) >= length {
		return
	}
	f.NodeStart, f.NodeParent, f.NodeKind = append(f.NodeStart, int32(len(f.IDs))), append(f.NodeParent, -1), append(f.NodeKind, Padding)
	for i := len(f.IDs); i < length; i++ {
		f.IDs, f.Positions, f.SubtreeEnd = append(f.IDs, id), append(f.Positions, 0), append(f.SubtreeEnd, int32(i+1))
	}
}

// node appends a node whose first token is at the depth given and returns its number.
func (f *Forest) node(kind Kind, parent int, ids []int32, depth, end int) int {
	f.NodeStart, f.NodeParent, f.NodeKind = append(f.NodeStart, int32(len(f.IDs))), append(f.NodeParent, int32(parent)), append(f.NodeKind, kind)
	f.IDs = append(f.IDs, ids...)
	for i := range ids {
		f.Positions, f.SubtreeEnd = append(f.Positions, int32(depth+i)), append(f.SubtreeEnd, int32(end))
	}
	return len(f.NodeStart) - 1
}

// span appends a label whose position in the row is shift after its position on its path from
// the root.
func (f *Forest) span(s Span, shift int) {
	s.Start += shift
	f.Spans = append(f.Spans, s)
}
