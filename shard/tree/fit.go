package tree

import (
	"slices"

	"relabel"
)

// Fit returns the tree without the labels whose sequences are longer than limit tokens, the
// turns of these labels, and how many trunks and leaves they were of. A leaf over the limit
// is dropped. A trunk over it is cut after the last label that ends within the limit, and
// is dropped with all its labels where none does or where cut is false. The lengths are
// those of the linear view's rows, so that all views hold the same labels. The root is nil
// where no label is left, and is itself where all are.
func (r *Root) Fit(limit int, cut bool) (fitted *Root, over []int, counts relabel.ManifestTooLong) {
	kept := *r
	if n := len(r.spans); n > 0 && r.spans[n-1].End() > limit {
		keep := 0
		for cut && r.spans[keep].End() <= limit {
			keep++
		}
		for _, s := range r.spans[keep:] {
			over = append(over, s.Turn)
		}
		if keep > 0 {
			counts.TrunksCut, counts.LabelsCut = 1, n-keep
		} else {
			counts.TrunksDropped, counts.LabelsDropped = 1, n
		}
		kept.spans = r.spans[:keep]
	}
	long := func(l leaf) bool { return l.at+len(l.ids) > limit }
	if slices.ContainsFunc(r.leaves, long) {
		kept.leaves = nil
		for _, l := range r.leaves {
			if long(l) {
				over = append(over, l.span.Turn)
				counts.LeavesDropped++
			} else {
				kept.leaves = append(kept.leaves, l)
			}
		}
	}
	if over == nil {
		return r, nil, counts
	}
	slices.Sort(over)
	return kept.trimmed(), over, counts
}

// Split returns the tree as trees of at most bin tokens, itself where it is one already.
// Each holds the labels of some turns in a row and the whole trunk before them, masked
// where an earlier one has the labels: the labels and their prefixes stay as they are. No
// label goes, so a tree of which a single label is over bin tokens stays over: Fit first.
func (r *Root) Split(bin int) []*Root {
	if r.Tokens() <= bin {
		return []*Root{r}
	}
	var out []*Root
	part := Root{Number: r.Number, Origin: r.Origin, trunk: r.trunk}
	spans, leaves, branches, reach := r.spans, r.leaves, 0, 0
	for len(spans)+len(leaves) > 0 {
		inTrunk := len(leaves) == 0 || len(spans) > 0 && spans[0].Start <= leaves[0].at
		more, to := 0, 0
		if inTrunk {
			to = spans[0].End()
		} else {
			more, to = len(leaves[0].ids), leaves[0].at
		}
		if part.Labels() > 0 && max(reach, to)+branches+more > bin {
			out = append(out, part.trimmed())
			part.spans, part.leaves, branches, reach = nil, nil, 0, 0
		}
		branches, reach = branches+more, max(reach, to)
		if inTrunk {
			part.spans, spans = append(part.spans, spans[0]), spans[1:]
		} else {
			part.leaves, leaves = append(part.leaves, leaves[0]), leaves[1:]
		}
	}
	return append(out, part.trimmed())
}
