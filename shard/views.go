package shard

import (
	"context"
	"fmt"

	"golang.org/x/sync/semaphore"

	"relabel"
	"relabel/shard/outfile"
	"relabel/shard/pack"
	"relabel/shard/parquet"
	"relabel/shard/tree"
)

// tokenViews configures how the token views of an export are written.
type tokenViews struct {
	Recipe       relabel.Recipe // determines the columns behind the weights
	Capacity     int            // maximum tokens per row
	Longest      int            // maximum tokens of a sequence, or of a path from root to leaf; at most Capacity
	Bare         bool           // linear has only IDs, attention mask and labels
	Pad          bool           // tree rows are padded to Capacity
	PadID        int32
	DataParallel int    // the number of files per view is a multiple of this; 0: 1
	Version      string // of relabel, written to the files
}

// viewFigures holds the totals of a view.
type viewFigures struct {
	Files  []outfile.File `json:"-"`
	Rows   int            `json:"rows"`
	Tokens int64          `json:"tokens"` // without padding
}

// plus adds the totals of another part, without its files.
func (f viewFigures) plus(g viewFigures) viewFigures {
	return viewFigures{Rows: f.Rows + g.Rows, Tokens: f.Tokens + g.Tokens}
}

// fill returns the filled fraction of the rows, from 0 to 1.
func (f viewFigures) fill(capacity int) float64 {
	if f.Rows == 0 {
		return 1
	}
	return float64(f.Tokens) / (float64(capacity) * float64(f.Rows))
}

// part holds the roots that are written together, and the numbering of their files. Bins do
// not span parts.
type part struct {
	Number int
	First  int // number of the first file of each view
	Step   int // increment of file numbers; 0: 1
	Roots  []*tree.Root
	// Done are the files, by path, that an earlier attempt finished: they are not written
	// again.
	Done map[string]outfile.File
	// Put receives each finished file, several at a time; nil: the file stays where it is.
	Put func(outfile.File) error
	// Cores limits how many files of all views are written at a time; nil: no limit.
	Cores *semaphore.Weighted
}

// write writes a token view of a part below dir. All roots must fit into rows. The same part
// gives the same bytes. It holds one row of each open file in memory.
func (v tokenViews) write(ctx context.Context, view relabel.View, dir string, p part) (viewFigures, error) {
	switch {
	case view == relabel.ViewLinear && v.Bare:
		return v.writeBare(ctx, dir, p)
	case view == relabel.ViewLinear:
		return v.writeLinear(ctx, dir, p)
	case view == relabel.ViewPacked:
		return v.writePacked(ctx, dir, p)
	case view == relabel.ViewTree:
		return v.writeTree(ctx, dir, p)
	case view == relabel.ViewArrow:
		return v.writeArrow(ctx, dir, p)
	}
	return viewFigures{}, relabel.Errorf(relabel.CodeInvalid, "unknown view %q", view).On("view")
}

// layout returns the layout of a view's files; loss is the alignment of loss_mask.
func (v tokenViews) layout(view, loss string, p part) parquet.Layout {
	return parquet.Layout{View: view, LossMask: loss, First: p.First, Step: p.Step, Page: tokenPage, Omit: omitted(v.Recipe)}
}

// tokenPage is the page size of a token view's columns, in bytes. Rows of a trajectory begin
// alike; a page with several of them lets zstd store the beginning once.
const tokenPage = 2 << 20

// sequences lists the sequences of roots and their total length.
func sequences(roots []*tree.Root) (all []tree.Sequence, tokens int64) {
	for _, r := range roots {
		for _, s := range r.Linear() {
			all, tokens = append(all, s), tokens+int64(s.Length())
		}
	}
	return all, tokens
}

func (v tokenViews) writeLinear(ctx context.Context, dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	return sideBySide(ctx, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(p part) (*outfile.Writer[linearRow], rowFunc[linearRow]) {
		var row linearRow
		l := labelling{recipe: v.Recipe}
		return parquet.NewWriter[linearRow](dir, v.layout(linearView, "token", p), v.Version), func(i int) (linearRow, outfile.Size, error) {
			row.InputIDs = l.sequence(row.InputIDs[:0], all[i])
			row.tokenColumns, row.Labels = l.columns(all[i].Name), l.labels
			row.AttentionMask, row.LossMask = filled(row.AttentionMask, len(l.labels), 1), l.mask(row.LossMask)
			return row, l.size(3), nil
		}
	})
}

// writeBare writes linear rows without weights. CodeInvalid if a weight is not 1.
func (v tokenViews) writeBare(ctx context.Context, dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	return sideBySide(ctx, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(p part) (*outfile.Writer[bareRow], rowFunc[bareRow]) {
		var row bareRow
		var l labelling
		layout := parquet.Layout{View: linearView, LossMask: "none", First: p.First, Step: p.Step, Page: tokenPage}
		return parquet.NewWriter[bareRow](dir, layout, v.Version), func(i int) (bareRow, outfile.Size, error) {
			if err := checkUnweighted(all[i]); err != nil {
				return row, outfile.Size{}, err
			}
			row.InputIDs = l.sequence(row.InputIDs[:0], all[i])
			row.Labels, row.AttentionMask = l.labels, filled(row.AttentionMask, len(l.labels), 1)
			return row, l.size(2), nil
		}
	})
}

// sequence appends a sequence to the row's IDs and labels it.
func (l *labelling) sequence(ids []int32, s tree.Sequence) []int32 {
	ids = s.AppendIDs(ids)
	l.begin(len(ids))
	for _, span := range s.Spans {
		l.add(ids, span, 0)
	}
	return ids
}

// binned packs items into bins of the capacity; items that do not fit have been excluded
// before.
func (v tokenViews) binned(items []pack.Item) ([][]int, error) {
	bins, over := pack.Pack(items, pack.Limits{Bin: v.Capacity, Path: v.Longest})
	if len(over) > 0 {
		return nil, fmt.Errorf("%d of %d rows exceed the capacity", len(over), len(items))
	}
	return bins, nil
}
