// Package tree builds token trees of trajectories: from the ids of every state st and label ãt,
// rows with the same gradient as all pairs (st, ãt) separately (paper 3.2, eq. 11–13), with fewer
// tokens.
//
// The trunk of a tree is what was executed. If a label equals, token for token, what follows st in
// the trunk, it is supervised there; otherwise it is a leaf that branches off where st ends. Leaves
// do not branch.
package tree

import "slices"

// Kind is the kind of a node of a tree row, or of a span. The numbers are those of node_kind.
type Kind int32

// Kinds of nodes; the first two are those of spans as well.
const (
	Trunk   Kind = 0 // what was executed
	Leaf    Kind = 1 // a label that was not executed
	Padding Kind = 2 // fills a row up
)

// String returns the kind's name in spans.
func (k Kind) String() string { return [...]string{"trunk", "leaf", "padding"}[k] }

// Origin identifies the source of labels. All spans of a trajectory share it.
type Origin struct {
	Trajectory string
	Iteration  int      // number of the iteration i, from 1
	Beta       *float32 // βi (eq. 8); nil if executors were drawn by κ (eq. 9)
	Group      string   // the trajectory's group; "" unless labels are the student's own actions
	Reward     *float32 // of the trajectory; nil likewise, or if it is unknown
}

// Signals are the values from which the weights of the student's own action follow, one per
// token of it. Those that the recipe does not use are nil.
type Signals struct {
	Teacher, Student []float32 // log-probabilities at T = 1 under πe and πθ (opd)
	Advantages       []float32 // A, the same for all tokens (grpo)
}

// Span is the supervised tokens of one label in a row, the stop token included.
type Span struct {
	Origin  *Origin
	Turn    int // t, from 1
	Kind    Kind
	Start   int       // of the first supervised token, in its row
	Weights []float32 // w(s, a) of each token, normalised; as long as the span
	Served  bool      // the ids were returned by the student's server, not rendered
	Signals Signals   // behind the weights
}

// Length returns the number of tokens in the span.
func (s Span) Length() int { return len(s.Weights) }

// End returns the index after the span's last token.
func (s Span) End() int { return s.Start + len(s.Weights) }

// leaf is a label that branches off the trunk: the turn's header and ãt.
type leaf struct {
	at   int     // length of st: the leaf's first token comes after trunk[:at]
	ids  []int32 // header, then ãt
	span Span    // Start counts from the root's first token
}

// Root is one token tree of a trajectory. It is immutable and shares memory with the IDs that
// it was built from, which must not change.
type Root struct {
	Number int // within the trajectory, from 0
	Origin *Origin
	trunk  []int32 // ends at the last supervised token, or where the last leaf branches off
	spans  []Span  // labels in the trunk, by turn
	leaves []leaf  // by turn, hence by at
}

// Tokens returns the tree's length: each trunk token once, plus the leaves.
func (r *Root) Tokens() int {
	n := len(r.trunk)
	for _, l := range r.leaves {
		n += len(l.ids)
	}
	return n
}

// Longest returns the length of the longest path from the root to a leaf, in tokens: the
// number of positions that a model needs.
func (r *Root) Longest() int {
	n := len(r.trunk)
	for _, l := range r.leaves {
		n = max(n, l.at+len(l.ids))
	}
	return n
}

// Labels returns the number of labels in the tree.
func (r *Root) Labels() int { return len(r.spans) + len(r.leaves) }

// Spans yields the labels of the tree, those in the trunk first. Start counts along the
// way from the root, so it is the length of the label's prefix.
func (r *Root) Spans(yield func(Span) bool) {
	for _, s := range r.spans {
		if !yield(s) {
			return
		}
	}
	for _, l := range r.leaves {
		if !yield(l.span) {
			return
		}
	}
}

// trimmed returns the root without the unneeded end of its trunk, nil if the root has no
// label.
func (r Root) trimmed() *Root {
	end := 0
	if n := len(r.spans); n > 0 {
		end = r.spans[n-1].End()
	}
	if n := len(r.leaves); n > 0 {
		end = max(end, r.leaves[n-1].at)
	}
	if end == 0 {
		return nil
	}
	r.trunk = slices.Clip(r.trunk[:end])
	return &r
}
