package shard

import (
	"fmt"
	"slices"

	"relabel"
	"relabel/shard/pack"
	"relabel/shard/parquet"
	"relabel/shard/tree"
)

// tokenViews says how the token views of an export are written.
type tokenViews struct {
	Views        []string // of linear, packed and tree
	Capacity     int      // tokens of a row at most
	Longest      int      // tokens of a sequence, or of a tree's longest way from root to leaf, at most; no more than Capacity
	Bare         bool     // linear has ids, attention mask and labels alone
	Pad          bool     // tree rows are filled up to Capacity
	PadID        int32
	DataParallel int      // files of a view are a multiple of it; 0 is 1
	Signals      []string // columns beside the weights: teacher_logprobs, student_logprobs, advantages
	Version      string   // of relabel, written into the files
}

// viewFigures is what a view came to.
type viewFigures struct {
	Files  []parquet.File `json:"-"`
	Rows   int            `json:"rows"`
	Tokens int64          `json:"tokens"` // without padding
}

// plus adds the figures of another part, without its files.
func (f viewFigures) plus(g viewFigures) viewFigures {
	return viewFigures{Rows: f.Rows + g.Rows, Tokens: f.Tokens + g.Tokens}
}

// fill is how full the rows are, from 0 to 1.
func (f viewFigures) fill(capacity int) float64 {
	if f.Rows == 0 {
		return 1
	}
	return float64(f.Tokens) / (float64(capacity) * float64(f.Rows))
}

// part is the roots that are written together, and how its rows and files are numbered:
// bins do not cross parts.
type part struct {
	Number int
	First  int // number of the first file of each view
	Step   int // from one file's number to the next one's; 0: 1
	Roots  []*tree.Root
	// Done are files, by path, that an earlier try finished: they are not written again.
	Done map[string]parquet.File
	// Put takes each file as it is finished; nil: it stays where it is.
	Put func(parquet.File) error
}

// write writes the views of a part below dir. The roots must fit. The same part gives the
// same bytes. One view is written after the other, one row in memory at a time.
func (v tokenViews) write(dir string, p part) (map[string]viewFigures, error) {
	out := map[string]viewFigures{}
	for _, view := range v.Views {
		var err error
		var f viewFigures
		switch {
		case view == linearView && v.Bare:
			f, err = v.writeBare(dir, p)
		case view == linearView:
			f, err = v.writeLinear(dir, p)
		case view == packedView:
			f, err = v.writePacked(dir, p)
		case view == treeView:
			f, err = v.writeTree(dir, p)
		default:
			err = relabel.Errorf(relabel.CodeInvalid, "there is no view %q", view).On("view")
		}
		if err != nil {
			return nil, err
		}
		out[view] = f
	}
	return out, nil
}

// rowsOf writes rows, dealt to files: row gives each by its number.
func rowsOf[R any](w *parquet.Writer[R], p part, deal []int, tokens int64, row func(i int) (R, parquet.Size, error)) (viewFigures, error) {
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
		for ; p.Put != nil && given < len(w.Files()); given++ { // more than one where it grew over the limit
			if err := p.Put(w.Files()[given]); err != nil {
				return viewFigures{}, err
			}
		}
	}
	files, err := w.Close()
	return viewFigures{Files: files, Rows: next, Tokens: tokens}, err
}

// finished returns the file of a path that an earlier try finished, if it has as many rows
// and tokens as it would get now: the machine that built it may have had other files of the
// tokenizer or the template. Messages have no tokens, and their rows are asked for once.
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

// layout is that of a view's files; loss says how loss_mask is aligned.
func (v tokenViews) layout(view, loss string, p part) parquet.Layout {
	l := parquet.Layout{View: view, LossMask: loss, First: p.First, Step: p.Step, Page: tokenPage}
	for _, name := range []string{teacherLogprobsColumn, studentLogprobsColumn, advantagesColumn} {
		if !slices.Contains(v.Signals, name) {
			l.Without = append(l.Without, name)
		}
	}
	return l
}

// tokenPage is a page of a token view's column, in bytes: rows of a trajectory begin
// alike, and a page that holds some of them lets zstd write the beginning once.
const tokenPage = 2 << 20

// sequences lists the sequences of roots with their lengths in all.
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
	var l labelling
	w := parquet.NewWriter[linearRow](dir, v.layout(linearView, "token", p), v.Version)
	return rowsOf(w, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(i int) (linearRow, parquet.Size, error) {
		row.InputIDs = l.sequence(row.InputIDs[:0], all[i], v.Signals)
		row.tokenColumns, row.signalColumns, row.Labels = l.columns(all[i].Name), l.signals, l.labels
		row.AttentionMask, row.LossMask = ones(row.AttentionMask, len(l.labels)), l.mask(row.LossMask)
		return row, l.size(3, v.Signals), nil
	})
}

// writeBare writes linear rows without weights, so it refuses weights other than 1.
func (v tokenViews) writeBare(dir string, p part) (viewFigures, error) {
	all, tokens := sequences(p.Roots)
	var row bareRow
	var l labelling
	w := parquet.NewWriter[bareRow](dir, v.layout(linearView, "none", p), v.Version)
	return rowsOf(w, p, parquet.Deal(len(all), tokens, v.DataParallel), tokens, func(i int) (bareRow, parquet.Size, error) {
		for _, s := range all[i].Spans {
			if slices.ContainsFunc(s.Weights, func(w float32) bool { return w != 1 }) {
				return row, parquet.Size{}, relabel.Errorf(relabel.CodeInvalid, "turn %d of trajectory %s does not weigh 1 a token, and bare rows have no weights", s.Turn, s.Origin.Trajectory).On("bare")
			}
		}
		row.InputIDs = l.sequence(row.InputIDs[:0], all[i], nil)
		row.Labels, row.AttentionMask = l.labels, ones(row.AttentionMask, len(l.labels))
		return row, l.size(2, nil), nil
	})
}

// sequence appends a sequence to ids, which are the row's, and labels it.
func (l *labelling) sequence(ids []int32, s tree.Sequence, signals []string) []int32 {
	ids = s.AppendIDs(ids)
	l.begin(len(ids), signals)
	for _, span := range s.Spans {
		l.add(ids, span, 0, signals)
	}
	return ids
}

// ones returns n ones, in dst's memory where that is enough.
func ones(dst []int8, n int) []int8 {
	dst = zeroed(dst, n)
	for i := range dst {
		dst[i] = 1
	}
	return dst
}

// binned packs items into rows of the capacity; fit has seen to it that all fit.
func (v tokenViews) binned(items []pack.Item) ([][]int, error) {
	bins, over := pack.Pack(items, pack.Limits{Bin: v.Capacity, Path: v.Longest})
	if len(over) > 0 {
		return nil, fmt.Errorf("%d of %d rows are over the capacity", len(over), len(items))
	}
	return bins, nil
}
