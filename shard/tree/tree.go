// Package tree makes token trees of trajectories: from the ids of every state st and
// label ãt, the rows that train as each pair (st, ãt) alone would (paper 3.2, eq. 11–13),
// at a small part of the tokens.
//
// A trajectory's trunk is what was executed. Where the label is, token for token, what
// follows st in the trunk, the trunk is supervised there; else the label is a leaf that
// branches off the trunk where st ends. So a tree is a trunk with leaves, never more.
package tree

import (
	"slices"
)

// Kind says what a node of a tree row, or a span, is. The numbers are those of node_kind.
type Kind int32

// Kinds of nodes; the first two are those of spans as well.
const (
	Trunk   Kind = 0 // what was executed
	Leaf    Kind = 1 // a label that was not
	Padding Kind = 2 // what fills a row up
)

// String returns the kind's word in spans.
func (k Kind) String() string { return [...]string{"trunk", "leaf", "padding"}[k] }

// Origin is where labels come from. It is shared by all spans of a trajectory.
type Origin struct {
	Trajectory string
	Iteration  int      // number of the iteration i, from 1
	Beta       *float32 // βi (eq. 8); nil where executors were drawn by κ (eq. 9)
}

// Signals are what is known of a label's tokens besides their weights, each nil or one
// number a token of ãt.
type Signals struct {
	TeacherLogprobs []float32 // log πe, natural
	StudentLogprobs []float32 // log πθ, natural
	Advantages      []float32 // A(s, a)
}

// Span is the supervised tokens of one label in a row, the stop token included.
type Span struct {
	Origin  *Origin
	Turn    int // t, from 1
	Kind    Kind
	Start   int       // of the first supervised token, in its row
	Weights []float32 // w(s, a) of each token, normalisation in it; as long as the span
	Served  bool      // the ids are the student server's own, not a rendering
	Signals
}

// Length is how many tokens the span has.
func (s Span) Length() int { return len(s.Weights) }

// End is the place after the span's last token.
func (s Span) End() int { return s.Start + len(s.Weights) }

// leaf is a label that branches off the trunk: the turn's header and ãt.
type leaf struct {
	at   int     // length of st: the leaf's first token comes after trunk[:at]
	ids  []int32 // header, then ãt
	span Span    // Start counts from the root's first token
}

// Root is one token tree of a trajectory. It shares memory with the ids that it was
// built from, which must not change; it is never changed itself.
type Root struct {
	Number int // within the trajectory, from 0
	Origin *Origin
	trunk  []int32 // ends at the last supervised token, or where the last leaf branches off
	spans  []Span  // labels in the trunk, by turn
	leaves []leaf  // by turn, hence by at
}

// Tokens is the tree's length: each trunk token once, and the leaves.
func (r *Root) Tokens() int {
	n := len(r.trunk)
	for _, l := range r.leaves {
		n += len(l.ids)
	}
	return n
}

// Longest is the length of the longest way from the root to a leaf, in tokens: as many
// positions as a model must have for it.
func (r *Root) Longest() int {
	n := len(r.trunk)
	for _, l := range r.leaves {
		n = max(n, l.at+len(l.ids))
	}
	return n
}

// Labels is how many labels the tree holds.
func (r *Root) Labels() int { return len(r.spans) + len(r.leaves) }

// Supervised is how many tokens the labels have.
func (r *Root) Supervised() int {
	n := 0
	for s := range r.Spans {
		n += s.Length()
	}
	return n
}

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

// trimmed returns the root without the end of its trunk that no label needs, nil where
// it has no label: rows end at the last supervised token.
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
