package shard

import (
	"context"
	"slices"

	"relabel"
	"relabel/shard/arrow"
	"relabel/shard/outfile"
	"relabel/shard/parquet"
	"relabel/shard/tree"
)

// writeArrow writes the linear rows without weights as Arrow streams. CodeInvalid if a weight is not 1.
func (v tokenViews) writeArrow(ctx context.Context, dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	return sideBySide(ctx, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(p part) (*outfile.Writer[arrow.Row], rowFunc[arrow.Row]) {
		var row arrow.Row
		var l labelling
		return arrow.NewWriter(dir, string(relabel.ViewArrow), p.First, p.Step), func(i int) (arrow.Row, outfile.Size, error) {
			if err := checkUnweighted(all[i]); err != nil {
				return row, outfile.Size{}, err
			}
			row.InputIDs = l.sequence(row.InputIDs[:0], all[i])
			row.Labels, row.AttentionMask = l.labels, filled(row.AttentionMask, len(l.labels), 1)
			return row, l.size(2), nil
		}
	})
}

// checkUnweighted returns CodeInvalid if a token of a sequence has a weight other than 1, for rows that have no weights.
func checkUnweighted(s tree.Sequence) error {
	for _, span := range s.Spans {
		if slices.ContainsFunc(span.Weights, func(w float32) bool { return w != 1 }) {
			return relabel.Errorf(relabel.CodeInvalid, "turn %d of trajectory %s has token weights other than 1, which these rows cannot express", span.Turn, span.Origin.Trajectory).On("bare")
		}
	}
	return nil
}
