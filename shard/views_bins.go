package shard

import (
	"context"
	"fmt"

	"relabel/shard/outfile"
	"relabel/shard/pack"
	"relabel/shard/parquet"
	"relabel/shard/tree"
)

func (v tokenViews) writePacked(ctx context.Context, dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	items := make([]pack.Item, len(all))
	for i, s := range all {
		items[i] = pack.Item{Length: s.Length(), Longest: s.Length()}
	}
	bins, err := v.binned(items)
	if err != nil {
		return viewFigures{}, err
	}
	return sideBySide(ctx, p, parquet.Deal(len(bins), tokens, v.DataParallel), tokens, func(file part) (*outfile.Writer[packedRow], rowFunc[packedRow]) {
		var row packedRow
		l := labelling{recipe: v.Recipe}
		layout := v.layout(packedView, "rolled-1", file)
		layout.Infix = ".idx" // the suffix that Megatron-Bridge expects
		return parquet.NewWriter[packedRow](dir, layout, v.Version), func(i int) (packedRow, outfile.Size, error) {
			row.concatenate(all, bins[i])
			l.begin(len(row.InputIDs))
			for k, number := range bins[i] {
				for _, span := range all[number].Spans {
					l.add(row.InputIDs, span, int(row.SeqStartID[k]))
				}
			}
			row.tokenColumns, row.Labels = l.columns(fmt.Sprintf("packed/%d/%d", p.Number, i)), l.labels
			row.LossMask = rolled(l.mask(row.LossMask), row.SeqStartID)
			return row, l.size(3), nil
		}
	})
}

// concatenate fills the row with the sequences of a bin, positions starting at 0 in each.
func (r *packedRow) concatenate(all []tree.Sequence, bin []int) {
	r.InputIDs, r.PositionIDs, r.SeqLengths, r.SeqStartID = r.InputIDs[:0], r.PositionIDs[:0], r.SeqLengths[:0], r.SeqStartID[:0]
	for _, number := range bin {
		s := all[number]
		r.SeqStartID, r.SeqLengths = append(r.SeqStartID, int32(len(r.InputIDs))), append(r.SeqLengths, int32(s.Length()))
		r.InputIDs = s.AppendIDs(r.InputIDs)
		for i := range s.Length() {
			r.PositionIDs = append(r.PositionIDs, int32(i))
		}
	}
}

// rolled rolls a mask by -1 within each sequence: the value at a token then says whether the
// next token of its sequence is trained on.
func rolled(mask []int8, starts []int32) []int8 {
	if len(mask) == 0 {
		return mask
	}
	copy(mask, mask[1:])
	mask[len(mask)-1] = 0
	for _, start := range starts {
		if start > 0 {
			mask[start-1] = 0
		}
	}
	return mask
}

func (v tokenViews) writeTree(ctx context.Context, dir string, p part) (viewFigures, error) {
	var all []*tree.Root
	var items []pack.Item
	var tokens int64
	for _, r := range p.Roots {
		for _, piece := range r.Split(v.Capacity) {
			all, items = append(all, piece), append(items, pack.Item{Length: piece.Tokens(), Longest: piece.Longest()})
			tokens += int64(piece.Tokens())
		}
	}
	bins, err := v.binned(items)
	if err != nil {
		return viewFigures{}, err
	}
	return sideBySide(ctx, p, parquet.Deal(len(bins), tokens, v.DataParallel), tokens, func(file part) (*outfile.Writer[treeRow], rowFunc[treeRow]) {
		var row treeRow
		var f tree.Forest
		l := labelling{recipe: v.Recipe}
		return parquet.NewWriter[treeRow](dir, v.layout(treeView, "none", file), v.Version), func(i int) (treeRow, outfile.Size, error) {
			v.plant(&f, all, bins[i])
			l.begin(len(f.IDs))
			for _, span := range f.Spans {
				l.add(f.IDs, span, 0)
			}
			row.tokenColumns = l.columns(fmt.Sprintf("tree/%d/%d", p.Number, i))
			row.TreeIDs, row.TreeLabels, row.PositionIDs, row.SubtreeEnd = f.IDs, l.labels, f.Positions, f.SubtreeEnd
			row.NodeStart, row.NodeParent, row.NodeKind = f.NodeStart, f.NodeParent, kinds(row.NodeKind[:0], f.NodeKind)
			return row, l.size(3), nil
		}
	})
}

// plant fills a forest with the trees of a bin.
func (v tokenViews) plant(f *tree.Forest, all []*tree.Root, bin []int) {
	f.Reset()
	for _, number := range bin {
		f.Add(all[number])
	}
	if v.Pad {
		f.Pad(v.Capacity, v.PadID)
	}
}

// kinds appends the numbers of node kinds to dst.
func kinds(dst []int32, nodes []tree.Kind) []int32 {
	for _, k := range nodes {
		dst = append(dst, int32(k))
	}
	return dst
}
