package shard

import (
	"fmt"

	"relabel"
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
	Files  []parquet.File `json:"-"`
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
	Done map[string]parquet.File
	// Put receives each finished file; nil: the file stays if it is.
	Put func(parquet.File) error
}

// write writes a token view of a part below dir. All roots must fit into rows. The same part
// gives the same bytes. It holds one row in memory at a time.
func (v tokenViews) write(view relabel.View, dir string, p part) (viewFigures, error) {
	switch {
	case view == relabel.ViewLinear && v.Bare:
		return v.writeBare(dir, p)
	case view == relabel.ViewLinear:
		return v.writeLinear(dir, p)
	case view == relabel.ViewPacked:
		return v.writePacked(dir, p)
	case view == relabel.ViewTree:
		return v.writeTree(dir, p)
	case view == relabel.ViewArrow:
		return v.writeArrow(dir, p)
	}
	return viewFigures{}, relabel.Errorf(relabel.CodeInvalid, "unknown view %q", view).On("view")
}

// fileWriter writes the files of a view: see parquet.Writer.
type fileWriter[R any] interface {
	Path() string
	Skip(f parquet.File)
	Files() []parquet.File
	Write(row R, size parquet.Size) error
	EndFile() error
	Close() ([]parquet.File, error)
	Abort()
}

// rowsOf writes rows to files, deal giving the number of rows per file; row returns a row by
// its number.
func rowsOf[R any](w fileWriter[R], p part, deal []int, tokens int64, row func(i int) (R, parquet.Size, error)) (viewFigures, error) {
	defer w.Abort()
	next, given := 0, 0
	for _, n := range deal {
		f, same, err := finished(p, w.Path(), next, n, row)
		if err != nil {
			return viewFigures{}, err
		}
		if same {
			w.Skip(f)
			next, given = next+n, given+1
			continue
		}
		for range n {
			r, size, err := row(next)
			if err == nil {
				err = w.Write(r, size)
			}
			if err != nil {
				return viewFigures{}, err
			}
			next++
		}
		if err := w.EndFile(); err != nil {
			return viewFigures{}, err
		}
		for ; p.Put != nil && given < len(w.Files()); given++ { // more than one if a file reached its size limit
			if err := p.Put(w.Files()[given]); err != nil {
				return viewFigures{}, err
			}
		}
	}
	files, err := w.Close()
	return viewFigures{Files: files, Rows: next, Tokens: tokens}, err
}

// finished returns the file at a path that an earlier attempt finished, if it has the number
// of rows and tokens that it would get now: it may have been built on a machine with other
// tokenizer or template files. Messages are not compared by tokens, because their rows can be
// read only once.
func finished[R any](p part, path string, from, n int, row func(i int) (R, parquet.Size, error)) (f parquet.File, same bool, err error) {
	f, there := p.Done[path]
	if !there || f.Rows != n || f.Tokens == 0 {
		return f, there && f.Rows == n, nil
	}
	tokens, supervised := 0, 0
	for i := range n {
		_, size, err := row(from + i)
		if err != nil {
			return f, false, err
		}
		tokens, supervised = tokens+size.Tokens, supervised+size.Supervised
	}
	return f, tokens == f.Tokens && supervised == f.SupervisedTokens, nil
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

func (v tokenViews) writeLinear(dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	var row linearRow
	l := labelling{recipe: v.Recipe}
	w := parquet.NewWriter[linearRow](dir, v.layout(linearView, "token", p), v.Version)
	return rowsOf(w, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(i int) (linearRow, parquet.Size, error) {
		row.InputIDs = l.sequence(row.InputIDs[:0], all[i])
		row.tokenColumns, row.Labels = l.columns(all[i].Name), l.labels
		row.AttentionMask, row.LossMask = filled(row.AttentionMask, len(l.labels), 1), l.mask(row.LossMask)
		return row, l.size(3), nil
	})
}

// writeBare writes linear rows without weights. CodeInvalid if a weight is not 1.
func (v tokenViews) writeBare(dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	var row bareRow
	var l labelling
	w := parquet.NewWriter[bareRow](dir, parquet.Layout{View: linearView, LossMask: "none", First: p.First, Step: p.Step, Page: tokenPage}, v.Version)
	return rowsOf(w, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(i int) (bareRow, parquet.Size, error) {
		if err := checkUnweighted(all[i]); err != nil {
			return row, parquet.Size{}, err
		}
		row.InputIDs = l.sequence(row.InputIDs[:0], all[i])
		row.Labels, row.AttentionMask = l.labels, filled(row.AttentionMask, len(l.labels), 1)
		return row, l.size(2), nil
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
