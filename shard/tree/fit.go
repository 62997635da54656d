package tree

import (
	"slices"

	"relabel"
)

// Fit returns the tree without the labels whose sequences are longer than limit tokens, the
// turns of these labels, and the numbers of trunks and leaves affected. It drops a leaf over
// the limit. It truncates a trunk over the limit after the last label that ends within the
// limit, or drops it with all its labels if there is no such label or cut is false. Lengths
// are those of the linear view's rows, so that all views hold the same labels. The root is
// nil if no label remains, and unchanged if all do.
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

// Split divides the tree into trees of at most bin tokens; a tree that fits is returned
// unchanged. Each part holds the labels of consecutive turns and the whole trunk before them,
// in which the labels of earlier parts are masked, so labels and prefixes are preserved. A
// label that exceeds bin tokens by itself stays too long: call Fit first.
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
