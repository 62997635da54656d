package tree

import (
	"fmt"
	"slices"
)

// Sequence is a row of the linear view: a trunk with loss on the labels inside it, or st ⊕ ãt
// of one leaf. Its IDs are Prefix ⊕ Tail, which it shares with its root.
type Sequence struct {
	Name         string // <trajectory>/trunk<root> or <trajectory>/<t>; unique in the export
	Prefix, Tail []int32
	Spans        []Span // by Start
}

// Length returns the sequence's length in tokens.
func (s Sequence) Length() int { return len(s.Prefix) + len(s.Tail) }

// AppendIDs appends the sequence's IDs to dst.
func (s Sequence) AppendIDs(dst []int32) []int32 { return append(append(dst, s.Prefix...), s.Tail...) }

// Linear returns the tree's sequences: the trunk up to its last supervised token, if it has
// one, and one per leaf. Each label is in exactly one of them, after its whole prefix.
func (r *Root) Linear() []Sequence {
	out := make([]Sequence, 0, 1+len(r.leaves))
	if n := len(r.spans); n > 0 {
		name := fmt.Sprintf("%s/trunk%d", r.Origin.Trajectory, r.Number)
		out = append(out, Sequence{Name: name, Prefix: r.trunk[:r.spans[n-1].End()], Spans: slices.Clip(r.spans)})
	}
	for i := range r.leaves {
		l := &r.leaves[i]
		name := fmt.Sprintf("%s/%d", r.Origin.Trajectory, l.span.Turn)
		out = append(out, Sequence{Name: name, Prefix: r.trunk[:l.at], Tail: l.ids, Spans: []Span{l.span}})
	}
	return out
}
