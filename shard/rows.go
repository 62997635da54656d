package shard

import (
	"fmt"
	"slices"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/tree"
)

// unlabelled is the label of a token that is not supervised (Hugging Face).
const unlabelled = -100

// Token views.
const (
	linearView = "linear"
	packedView = "packed"
	treeView   = "tree"
)

// tokenColumns are the columns of every token view. They are aligned with the IDs and never
// rolled: loss = Σ w · nll with w at the index of its label.
type tokenColumns struct {
	RowID       string    `parquet:"row_id"`
	LossWeights []float32 `parquet:"loss_weights,list"` // w(s, a), normalised; 0 if not supervised
	Spans       []spanRow `parquet:"spans,list"`        // cover exactly the supervised tokens

	// Of recipes whose labels are the student's own actions; 0 if not supervised.
	TeacherLogprobs []float32 `parquet:"teacher_logprobs,list"` // opd
	StudentLogprobs []float32 `parquet:"student_logprobs,list"` // opd
	Advantages      []float32 `parquet:"advantages,list"`       // grpo
}

// spanRow is one label's supervised tokens.
type spanRow struct {
	Trajectory string   `parquet:"trajectory"`
	Turn       int32    `parquet:"turn"`
	Kind       string   `parquet:"kind"` // trunk or leaf
	Start      int32    `parquet:"start"`
	Length     int32    `parquet:"length"`
	Weight     *float32 `parquet:"weight,optional"` // null if it differs between tokens
	Iteration  int32    `parquet:"iteration"`
	Beta       *float32 `parquet:"beta,optional"` // null if executors were drawn by κ
	IDs        string   `parquet:"ids"`           // rendered or served

	// Of recipes whose labels are the student's own actions.
	GroupID string   `parquet:"group_id"`
	Reward  *float32 `parquet:"reward,optional"` // null if unknown
}

// linearRow is one sequence.
type linearRow struct {
	tokenColumns
	InputIDs      []int32 `parquet:"input_ids,list"`
	Labels        []int32 `parquet:"labels,list"`
	AttentionMask []int8  `parquet:"attention_mask,list"`
	LossMask      []int8  `parquet:"loss_mask,list"` // at the index of its label
}

// bareRow is one sequence for loaders that require exactly these columns.
type bareRow struct {
	InputIDs      []int32 `parquet:"input_ids,list"`
	AttentionMask []int8  `parquet:"attention_mask,list"`
	Labels        []int32 `parquet:"labels,list"`
}

// packedRow is a bin of concatenated sequences.
type packedRow struct {
	tokenColumns
	InputIDs    []int32 `parquet:"input_ids,list"`
	Labels      []int32 `parquet:"labels,list"`
	PositionIDs []int32 `parquet:"position_ids,list" parquet-element:",delta"` // from 0 in each sequence
	SeqLengths  []int32 `parquet:"seq_lengths,list"`
	SeqStartID  []int32 `parquet:"seq_start_id,list"` // without the end
	LossMask    []int8  `parquet:"loss_mask,list"`    // rolled by -1 within each sequence
}

// treeRow is a bin of trees. It has no column that a loader of sequences would look for.
type treeRow struct {
	tokenColumns
	TreeIDs     []int32 `parquet:"tree_ids,list"`
	TreeLabels  []int32 `parquet:"tree_labels,list"`
	PositionIDs []int32 `parquet:"position_ids,list" parquet-element:",delta"` // depth
	SubtreeEnd  []int32 `parquet:"subtree_end,list"`                           // encodes the attention mask
	NodeStart   []int32 `parquet:"node_start,list"`
	NodeParent  []int32 `parquet:"node_parent,list"`
	NodeKind    []int32 `parquet:"node_kind,list"`
}

// omitted returns the fields of a token view's rows that a recipe does not have.
func omitted(r relabel.Recipe) [][]string {
	var out [][]string
	if r != relabel.OPD {
		out = append(out, []string{"TeacherLogprobs"}, []string{"StudentLogprobs"})
	}
	if r != relabel.GRPO {
		out = append(out, []string{"Advantages"})
	}
	if !r.OnPolicy() {
		out = append(out, []string{"spans", "list", "element", "GroupID"}, []string{"spans", "list", "element", "Reward"})
	}
	return out
}

// labelling holds the columns of a row that define what is trained on. Its memory is reused:
// values taken from it are valid until the next row.
type labelling struct {
	labels     []int32
	weights    []float32
	spans      []spanRow
	supervised int

	// Those that the recipe has.
	recipe                       relabel.Recipe
	teacher, student, advantages []float32
}

// begin starts a row of n unsupervised tokens.
func (l *labelling) begin(n int) {
	l.labels, l.weights = filled(l.labels, n, unlabelled), filled(l.weights, n, 0)
	l.spans, l.supervised = l.spans[:0], 0
	switch l.recipe {
	case relabel.OPD:
		l.teacher, l.student = filled(l.teacher, n, 0), filled(l.student, n, 0)
	case relabel.GRPO:
		l.advantages = filled(l.advantages, n, 0)
	}
}

// add labels the IDs of a span whose position in the row is shift after its Start.
func (l *labelling) add(ids []int32, s tree.Span, shift int) {
	from, to := s.Start+shift, s.End()+shift
	copy(l.labels[from:to], ids[from:to])
	copy(l.weights[from:to], s.Weights)
	switch l.recipe {
	case relabel.OPD:
		copy(l.teacher[from:to], s.Signals.Teacher)
		copy(l.student[from:to], s.Signals.Student)
	case relabel.GRPO:
		copy(l.advantages[from:to], s.Signals.Advantages)
	}
	l.spans = append(l.spans, newSpanRow(s, from))
	l.supervised += to - from
}

// columns returns the columns of every token view.
func (l *labelling) columns(id string) tokenColumns {
	return tokenColumns{RowID: id, LossWeights: l.weights, Spans: l.spans,
		TeacherLogprobs: l.teacher, StudentLogprobs: l.student, Advantages: l.advantages}
}

// size returns the size of a row that has the given number of other lists aligned with the
// IDs, at four bytes per value in a reader's memory before compression.
func (l *labelling) size(others int) outfile.Size {
	n := len(l.labels)
	spans := 0
	for _, s := range l.spans {
		spans += 64 + len(s.Trajectory) + len(s.GroupID)
	}
	signals := len(l.teacher) + len(l.student) + len(l.advantages)
	return outfile.Size{Bytes: int64(4*(n*(2+others)+signals) + spans), Tokens: n, Supervised: l.supervised}
}

// mask sets dst to 1 where there is a label and to 0 elsewhere.
func (l *labelling) mask(dst []int8) []int8 {
	dst = filled(dst, len(l.labels), 0)
	for i, label := range l.labels {
		if label != unlabelled {
			dst[i] = 1
		}
	}
	return dst
}

func newSpanRow(s tree.Span, start int) spanRow {
	row := spanRow{Trajectory: s.Origin.Trajectory, Turn: int32(s.Turn), Kind: s.Kind.String(), Start: int32(start), Length: int32(s.Length()),
		Weight: &s.Weights[0], Iteration: int32(s.Origin.Iteration), Beta: s.Origin.Beta, IDs: "rendered", GroupID: s.Origin.Group, Reward: s.Origin.Reward}
	for _, w := range s.Weights {
		if w != s.Weights[0] {
			row.Weight = nil
		}
	}
	if s.Served {
		row.IDs = "served"
	}
	return row
}

// filled returns n times value, in s's memory if it is large enough.
func filled[T int8 | int32 | float32](s []T, n int, value T) []T {
	s = slices.Grow(s[:0], n)[:n]
	for i := range s {
		s[i] = value
	}
	return s
}

// spanName is the name of a label: <trajectory>/<t>.
func spanName(s tree.Span) string { return fmt.Sprintf("%s/%d", s.Origin.Trajectory, s.Turn) }
