package verify

import (
	"math"
	"slices"

	"relabel"
)

// tokens checks a row of a token view.
func (f *fileCheck) tokens(row *relabel.ExportRow) {
	n := len(row.IDs)
	if n == 0 {
		f.unreadable(row, "lengths", "it has no tokens")
		return
	}
	for _, c := range f.aligned(row) {
		if c.length != n {
			f.unreadable(row, "lengths", "%s has %d values for %d ids", c.name, c.length, n)
			return
		}
	}
	if most := f.manifest.Capacity; most != nil && n > *most {
		f.reject(row, "capacity", "it has %d tokens, the capacity is %d", n, *most)
	}
	if f.entry.View == relabel.ViewPacked || f.entry.View == relabel.ViewTree {
		f.binName(row)
	}
	f.labelsAndWeights(row)
	if !f.bare && !f.spans(row) {
		f.rejected = true
		return
	}
	switch f.entry.View {
	case relabel.ViewLinear, relabel.ViewArrow, relabel.ViewChat:
		f.linear(row)
	case relabel.ViewPacked:
		f.packed(row)
	case relabel.ViewTree:
		f.tree(row)
	}
}

// list is a column and the number of its values in a row.
type list struct {
	name   string
	length int
}

// aligned lists the columns that have one value per token.
func (f *fileCheck) aligned(row *relabel.ExportRow) []list {
	out := []list{{"labels", len(row.Labels)}}
	if !f.bare || f.entry.View == relabel.ViewChat {
		out = append(out, list{"loss_weights", len(row.Weights)})
	}
	switch f.manifest.Recipe {
	case relabel.OPD:
		out = append(out, list{"teacher_logprobs", len(row.TeacherLogprobs)}, list{"student_logprobs", len(row.StudentLogprobs)})
	case relabel.GRPO:
		out = append(out, list{"advantages", len(row.Advantages)})
	}
	switch f.entry.View {
	case relabel.ViewLinear, relabel.ViewArrow:
		out = append(out, list{"attention_mask", len(row.AttentionMask)})
		if !f.bare {
			out = append(out, list{"loss_mask", len(row.LossMask)})
		}
	case relabel.ViewPacked:
		out = append(out, list{"position_ids", len(row.Positions)}, list{"loss_mask", len(row.LossMask)})
	case relabel.ViewTree:
		out = append(out, list{"position_ids", len(row.Positions)}, list{"subtree_end", len(row.SubtreeEnd)})
	}
	return out
}

// labelsAndWeights checks each token: its label is its id or Unsupervised, and unsupervised tokens
// have weight 0.
func (f *fileCheck) labelsAndWeights(row *relabel.ExportRow) {
	for q, label := range row.Labels {
		if id := row.IDs[q]; id < 0 {
			f.reject(row, "ids", "token %d has the id %d", q, id)
			return
		}
		if label == relabel.Unsupervised {
			continue
		}
		f.Supervised++
		if label != row.IDs[q] {
			f.reject(row, "labels", "token %d has the label %d and the id %d", q, label, row.IDs[q])
			return
		}
	}
	if f.Student != nil {
		if q := slices.IndexFunc(row.IDs, func(id int32) bool { return int(id) >= f.Student.Tokens.Size() }); q >= 0 {
			f.reject(row, "ids", "token %d has the id %d; the tokenizer has %d ids", q, row.IDs[q], f.Student.Tokens.Size())
		}
	}
	if q := stray(row.Weights, row.Labels); q >= 0 {
		f.reject(row, "weights", "token %d has the weight %v and the label %d: supervised tokens have a finite weight, others 0", q, row.Weights[q], row.Labels[q])
	}
	for _, signal := range [][]float32{row.TeacherLogprobs, row.StudentLogprobs, row.Advantages} {
		if q := stray(signal, row.Labels); q >= 0 {
			f.reject(row, "signals", "token %d has the log-probability or advantage %v and the label %d: supervised tokens have a finite value, others 0", q, signal[q], row.Labels[q])
		}
	}
}

// stray returns the first token whose value is not finite, or not 0 although it is unsupervised;
// -1 if there is none.
func stray(values []float32, labels []int32) int {
	for q, v := range values {
		if labels[q] == relabel.Unsupervised && math.Float32bits(v) != 0 || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return q
		}
	}
	return -1
}

// supervised counts the supervised tokens from a to b.
func supervised(row *relabel.ExportRow, a, b int) (n int) {
	for _, label := range row.Labels[a:b] {
		if label != relabel.Unsupervised {
			n++
		}
	}
	return n
}

// share rejects a range without supervised tokens, with supervised tokens only, or that starts with
// one.
func (f *fileCheck) share(row *relabel.ExportRow, what string, a, b int) {
	switch n := supervised(row, a, b); {
	case n == 0 || n == b-a:
		f.reject(row, "mask", "the %s from token %d to %d has %d of its %d tokens supervised", what, a, b, n, b-a)
	case row.Labels[a] != relabel.Unsupervised:
		f.reject(row, "mask", "the %s starts with a supervised token, %d, which has no prefix", what, a)
	}
}
