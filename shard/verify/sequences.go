package verify

import (
	"strconv"
	"strings"

	"relabel"
)

// linear checks a row of the linear view.
func (f *fileCheck) linear(row *relabel.ExportRow) {
	for q, v := range row.AttentionMask {
		if v != 1 {
			f.reject(row, "attention_mask", "token %d has %d, expected 1", q, v)
			break
		}
	}
	f.sequence(row, "row", 0, len(row.IDs), row.Spans)
	if f.bare {
		f.bareLabels(row)
		return
	}
	for q, v := range row.LossMask {
		if (v == 1) != (row.Labels[q] != relabel.Unsupervised) || v != 0 && v != 1 {
			f.reject(row, "loss_mask", "token %d has %d and the label %d", q, v, row.Labels[q])
			break
		}
	}
	f.linearName(row)
}

// bareLabels checks that each run of labels ends with the stop token, because bare rows have no
// spans.
func (f *fileCheck) bareLabels(row *relabel.ExportRow) {
	for q, label := range row.Labels {
		ends := label != relabel.Unsupervised && (q+1 == len(row.Labels) || row.Labels[q+1] == relabel.Unsupervised)
		if t := f.manifest.Tokenizer; ends && t != nil && label != t.StopID {
			f.reject(row, "stop", "the label that ends at token %d ends with %d instead of the stop token %d", q, label, t.StopID)
			return
		}
	}
}

// linearName checks the row's name: <trajectory>/<t> of a leaf, <trajectory>/trunk<root> of a
// trunk.
func (f *fileCheck) linearName(row *relabel.ExportRow) {
	if len(row.Spans) == 0 {
		return // reported already: the mask is all zero
	}
	s := &row.Spans[0]
	trajectory, rest, _ := strings.Cut(row.ID, "/")
	root, isTrunk := strings.CutPrefix(rest, "trunk")
	number, err := strconv.Atoi(root)
	switch {
	case trajectory != s.Trajectory || err != nil || strconv.Itoa(number) != root || isTrunk != (s.Kind == "trunk") || !isTrunk && number != s.Turn:
		f.reject(row, "row_id", "its label is %s, a %s", labelName(s), s.Kind)
	default:
		if wrong := f.order.next(trajectory, isTrunk, number); wrong != "" {
			f.reject(row, "order", "%s", wrong)
		}
	}
}

// order checks the order of a file's rows: those of a trajectory are adjacent, its roots in the
// order of their numbers, a trunk before its leaves, and these by turn.
type order struct {
	trajectory string
	done       map[string]bool
	trunk, t   int // the last ones
}

// next describes the error in the order of the next row, "" if there is none.
func (o *order) next(trajectory string, isTrunk bool, number int) string {
	if trajectory != o.trajectory {
		o.done[o.trajectory] = true
		o.trajectory, o.trunk, o.t = trajectory, -1, 0
		if o.done[trajectory] {
			return "rows of other trajectories separate it from those of its own"
		}
	}
	switch {
	case isTrunk && number <= o.trunk, !isTrunk && number <= o.t:
		return "it must precede an earlier row"
	case isTrunk:
		o.trunk, o.t = number, 0
	default:
		o.t = number
	}
	return ""
}

// sequence checks the tokens from a to b and their spans: a trunk of one trajectory, or one leaf,
// up to its last label.
func (f *fileCheck) sequence(row *relabel.ExportRow, what string, a, b int, spans []relabel.ExportSpan) {
	f.share(row, what, a, b)
	if row.Labels[b-1] == relabel.Unsupervised {
		f.reject(row, "mask", "the %s from token %d continues after its last supervised token, to %d", what, a, b)
	}
	for i := range spans {
		s := &spans[i]
		if s.Kind == "leaf" && len(spans) > 1 {
			f.reject(row, "spans", "the %s from token %d contains the leaf %s and other labels", what, a, labelName(s))
		}
		f.sameTrajectory(row, what, &spans[0], s)
		if i > 0 && s.Turn <= spans[i-1].Turn {
			f.reject(row, "spans", "the label %s follows that of turn %d", labelName(s), spans[i-1].Turn)
		}
	}
}

// sameTrajectory checks that two labels of a sequence or tree belong to one trajectory.
func (f *fileCheck) sameTrajectory(row *relabel.ExportRow, what string, first, s *relabel.ExportSpan) {
	if s.Trajectory != first.Trajectory || s.Iteration != first.Iteration || !same(s.Beta, first.Beta) {
		f.reject(row, "spans", "one %s contains %s of iteration %d and %s of iteration %d", what, labelName(first), first.Iteration, labelName(s), s.Iteration)
	}
}

// packed checks a row of the packed view.
func (f *fileCheck) packed(row *relabel.ExportRow) {
	if !f.tiles(row) {
		return
	}
	spans := row.Spans
	for i, a := range row.SeqStarts {
		a, b := int(a), int(a+row.SeqLengths[i])
		for q := a; q < b; q++ {
			if int(row.Positions[q]) != q-a {
				f.reject(row, "position_ids", "token %d has %d, but is number %d of its sequence", q, row.Positions[q], q-a)
				break
			}
		}
		f.rolled(row, a, b)
		var own []relabel.ExportSpan
		own, spans = spansBefore(spans, b)
		f.sequence(row, "sequence", a, b, own)
	}
}

// spansBefore splits spans into those that start before a token and the rest.
func spansBefore(spans []relabel.ExportSpan, end int) (before, rest []relabel.ExportSpan) {
	n := 0
	for n < len(spans) && spans[n].Start < end {
		n++
	}
	return spans[:n], spans[n:]
}

// tiles checks that the sequences of a packed row tile it.
func (f *fileCheck) tiles(row *relabel.ExportRow) bool {
	end := 0
	for i, n := range row.SeqLengths {
		if i >= len(row.SeqStarts) || int(row.SeqStarts[i]) != end || n < 1 || int(n) > len(row.IDs)-end {
			f.unreadable(row, "seq_lengths", "sequence %d does not start at %d, where the previous one ends, or exceeds the row", i, end)
			return false
		}
		end += int(n)
	}
	if end != len(row.IDs) || len(row.SeqStarts) != len(row.SeqLengths) {
		f.unreadable(row, "seq_lengths", "%d sequences of %d tokens together and %d starts for %d tokens", len(row.SeqLengths), end, len(row.SeqStarts), len(row.IDs))
		return false
	}
	return true
}

// rolled checks that the loss mask at each token of a sequence tells whether the next token is
// trained on.
func (f *fileCheck) rolled(row *relabel.ExportRow, a, b int) {
	for q := a; q < b; q++ {
		want := int32(0)
		if q+1 < b && row.Labels[q+1] != relabel.Unsupervised {
			want = 1
		}
		if row.LossMask[q] != want {
			f.reject(row, "loss_mask", "token %d has %d, expected %d: the mask is rolled by -1 within its sequence", q, row.LossMask[q], want)
			return
		}
	}
}
