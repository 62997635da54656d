package verify

import (
	"slices"

	"relabel"
)

// treeSize is the size of a trajectory's trees. A tree over the capacity is split, and its trunk is
// repeated in each part.
type treeSize struct{ tokens, largest int64 }

func (s treeSize) plus(t treeSize) treeSize {
	return treeSize{s.tokens + t.tokens, max(s.largest, t.largest)}
}

// node is a node of a tree row.
type node struct {
	start, end int // its tokens
	parent     int // -1: none
	kind       int32
	over       int // where its subtree ends
	depth      int // of its first token
}

// tree checks a row of the tree view: its nodes, and that mask and positions match them.
func (f *fileCheck) tree(row *relabel.ExportRow) {
	nodes := f.nodes(row)
	if nodes == nil || !f.preorder(row, nodes) {
		f.rejected = true
		return
	}
	f.maskOfNodes(row, nodes)
	spans := row.Spans
	for i := range nodes {
		var own []relabel.ExportSpan
		own, spans = spansBefore(spans, nodes[i].end)
		f.node(row, nodes, i, own)
	}
	f.roots(row, nodes)
}

// nodes returns the nodes, nil if they do not cover the row.
func (f *fileCheck) nodes(row *relabel.ExportRow) []node {
	k := len(row.NodeStart)
	if k == 0 || len(row.NodeParent) != k || len(row.NodeKind) != k || row.NodeStart[0] != 0 {
		f.reject(row, "tree", "%d node_start, %d node_parent and %d node_kind: their numbers must be equal, and the first node must start at token 0", k, len(row.NodeParent), len(row.NodeKind))
		return nil
	}
	nodes := make([]node, k)
	for i := range nodes {
		end := len(row.IDs)
		if i+1 < k {
			end = int(row.NodeStart[i+1])
		}
		nodes[i] = node{start: int(row.NodeStart[i]), end: end, parent: int(row.NodeParent[i]), kind: row.NodeKind[i], over: end}
		if end <= nodes[i].start || end > len(row.IDs) {
			f.reject(row, "tree", "node %d has the tokens from %d to %d", i, nodes[i].start, end)
			return nil
		}
	}
	return nodes
}

// preorder checks the parents and computes the depths and the ends of subtrees.
func (f *fileCheck) preorder(row *relabel.ExportRow, nodes []node) bool {
	for i := range nodes {
		n := &nodes[i]
		if n.parent >= i || n.parent < -1 {
			f.reject(row, "tree", "node %d has the parent %d, which does not precede it", i, n.parent)
			return false
		}
		above := i - 1
		for above >= 0 && above != n.parent {
			above = nodes[above].parent
		}
		if above != n.parent {
			f.reject(row, "tree", "node %d does not follow its parent %d in depth-first preorder", i, n.parent)
			return false
		}
		if n.parent >= 0 {
			n.depth = nodes[n.parent].depth + nodes[n.parent].end - nodes[n.parent].start
		}
	}
	for i := len(nodes) - 1; i >= 0; i-- {
		if p := nodes[i].parent; p >= 0 {
			nodes[p].over = max(nodes[p].over, nodes[i].over)
		}
	}
	return true
}

// maskOfNodes compares subtree_end and position_ids with the nodes, token by token.
func (f *fileCheck) maskOfNodes(row *relabel.ExportRow, nodes []node) {
	for i := range nodes {
		n := &nodes[i]
		for q := n.start; q < n.end; q++ {
			end, position := n.over, n.depth+q-n.start
			if n.kind == relabel.PaddingNode {
				end, position = q+1, 0
			}
			if int(row.SubtreeEnd[q]) != end {
				f.unreadable(row, "subtree_end", "token %d has %d; its node gives %d", q, row.SubtreeEnd[q], end)
				return
			}
			if int(row.Positions[q]) != position {
				f.reject(row, "position_ids", "token %d has %d; its node gives the depth %d", q, row.Positions[q], position)
				return
			}
		}
	}
}

// node checks one node with the spans in it.
func (f *fileCheck) node(row *relabel.ExportRow, nodes []node, i int, spans []relabel.ExportSpan) {
	n := &nodes[i]
	hasChild := i+1 < len(nodes) && nodes[i+1].parent == i
	if row.Labels[n.start] != relabel.Unsupervised {
		f.reject(row, "tree", "the first token of node %d, %d, is supervised: its predecessor is in another node", i, n.start)
	}
	switch n.kind {
	case relabel.TrunkNode:
	case relabel.LeafNode:
		f.leaf(row, i, n, hasChild, spans)
	case relabel.PaddingNode:
		f.pad(row, i, n, i == len(nodes)-1)
		return
	default:
		f.reject(row, "tree", "node %d has the kind %d, expected 0, 1 or 2", i, n.kind)
	}
	if !hasChild && row.Labels[n.end-1] == relabel.Unsupervised {
		f.reject(row, "mask", "node %d, which has no children, continues after its last supervised token, to %d", i, n.end)
	}
	if n.parent >= 0 && nodes[n.parent].kind != relabel.TrunkNode {
		f.reject(row, "tree", "the parent of node %d, node %d, is not a trunk", i, n.parent)
	}
	for k := range spans {
		s := &spans[k]
		if s.End() > n.end || (s.Kind == "leaf") != (n.kind == relabel.LeafNode) {
			f.reject(row, "spans", "the span of %s, a %s, is not within one node of its kind", labelName(s), s.Kind)
		}
	}
}

// leaf checks a leaf: a header, which is the same in the whole export, and one label.
func (f *fileCheck) leaf(row *relabel.ExportRow, i int, n *node, hasChild bool, spans []relabel.ExportSpan) {
	if hasChild || n.parent < 0 || len(spans) != 1 {
		f.reject(row, "tree", "node %d is a leaf with %d labels: it must have one label, a parent and no children", i, len(spans))
		return
	}
	header := row.IDs[n.start:spans[0].Start]
	if f.Student != nil && !slices.Equal(header, f.Student.Header()) {
		f.reject(row, "header", "node %d has the header ids %v; the template's header is %v", i, header, f.Student.Header())
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headers.add(string(appendIDs(nil, header)), f.entry.Path, rowName(row, f.number), "node", i)
}

// pad checks the padding.
func (f *fileCheck) pad(row *relabel.ExportRow, i int, n *node, last bool) {
	t := f.manifest.Tokenizer
	f.padding += int64(n.end - n.start)
	other := slices.IndexFunc(row.IDs[n.start:n.end], func(id int32) bool { return t != nil && id != t.PadID })
	switch most := f.manifest.Capacity; {
	case !last || n.parent != -1 || i == 0:
		f.reject(row, "padding", "node %d is padding: padding is a single last node without a parent, after a tree", i)
	case supervisedFrom(row, n.start, n.end) >= 0:
		f.reject(row, "padding", "token %d of the padding is supervised", supervisedFrom(row, n.start, n.end))
	case other >= 0:
		f.reject(row, "padding", "token %d of the padding has the id %d, not %d", n.start+other, row.IDs[n.start+other], t.PadID)
	case most != nil && n.end != *most:
		f.reject(row, "padding", "it pads the row to %d tokens, but the capacity is %d", n.end, *most)
	}
}

// roots checks each tree of the row.
func (f *fileCheck) roots(row *relabel.ExportRow, nodes []node) {
	spans := row.Spans
	for i := range nodes {
		root := &nodes[i]
		if root.parent != -1 || root.kind == relabel.PaddingNode {
			continue
		}
		f.share(row, "tree", root.start, root.over)
		var own []relabel.ExportSpan
		own, spans = spansBefore(spans, root.over)
		for k := range own {
			f.sameTrajectory(row, "tree", &own[0], &own[k])
		}
		if len(own) > 0 {
			size := int64(root.over - root.start)
			name := f.hash.name(own[0].Trajectory, 0)
			f.trees[name] = f.trees[name].plus(treeSize{size, size})
		}
	}
}

// appendIDs appends the bytes of ids.
func appendIDs(dst []byte, ids []int32) []byte {
	for _, id := range ids {
		dst = append(dst, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return dst
}
