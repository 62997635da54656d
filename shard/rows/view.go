package rows

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"relabel"
	"relabel/shard/parquet"
)

// Source opens the files of an export by their paths in it.
type Source func(path string) (Bytes, error)

// Bytes is an open file: random access and a size.
type Bytes interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// View is one view of an export. Its rows are numbered from 0 over its files in order of file
// name, as in load_dataset.
type View struct {
	name    relabel.View
	dialect relabel.Dialect // of rows of text; "" without
	files   []relabel.ManifestFile
	open    Source
}

// NewView returns a view of the export that m describes.
func NewView(m relabel.Manifest, view relabel.View, open Source) View {
	var files []relabel.ManifestFile
	for _, f := range m.Files {
		if f.View == view {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b relabel.ManifestFile) int { return cmp.Compare(a.Path, b.Path) })
	v := View{name: view, files: files, open: open}
	if m.For != nil {
		v.dialect = m.For.Dialect
	}
	return v
}

// FolderView is NewView for an export in a folder.
func FolderView(dir string, m relabel.Manifest, view relabel.View) View {
	return NewView(m, view, func(path string) (Bytes, error) {
		file, err := os.OpenInRoot(dir, filepath.FromSlash(path)) // the manifest may name any path
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeNotFound, "%s cannot be opened", path).Because(err)
		}
		info, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return localFile{file, info.Size()}, nil
	})
}

// localFile is a file with its size in bytes.
type localFile struct {
	*os.File
	size int64
}

// Size returns the size in bytes.
func (f localFile) Size() int64 { return f.size }

// Len returns the number of rows in the view.
func (v View) Len() (n int) {
	for _, f := range v.files {
		n += f.Rows
	}
	return n
}

// At reads row n, with its parts if it is text, and returns the file that contains it. Of a Parquet file it reads only the
// pages of that row. CodeNotFound if the row does not exist.
func (v View) At(n int) (row relabel.ExportRow, path string, err error) {
	left := n
	for _, f := range v.files {
		if left < 0 || left >= f.Rows {
			left -= f.Rows
			continue
		}
		err := v.read(f, left, &row)
		return row, f.Path, err
	}
	if v.Len() == 0 {
		return row, "", relabel.Errorf(relabel.CodeNotFound, "there is no row %d: the view has none", n)
	}
	return row, "", relabel.Errorf(relabel.CodeNotFound, "there is no row %d: the view has %d, from 0", n, v.Len())
}

// with opens a file for do.
func (v View) with(f relabel.ManifestFile, do func(*File) error) (err error) {
	bytes, err := v.open(f.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bytes.Close()) }()
	r, err := Open(bytes, bytes.Size())
	if err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "%s cannot be read", f.Path).Because(err)
	}
	if err := errors.Join(do(r), r.Close()); err != nil {
		return relabel.Errorf(relabel.CodeInvalid, "%s cannot be read", f.Path).Because(err)
	}
	return nil
}

// Named returns the number of the row with a row_id, reading of Parquet files that column only. CodeNotFound
// if there is none.
func (v View) Named(id string) (int, error) {
	if v.name == relabel.ViewArrow || v.dialect == relabel.DialectWeight && v.name == relabel.ViewChat {
		return 0, relabel.Errorf(relabel.CodeNotFound, "%q is not the number of a row, and the rows of %s have no names: the view has %d rows, from 0", id, v.name, v.Len())
	}
	before := 0
	for _, f := range v.files {
		found, err := v.named(f, id)
		if err != nil {
			return 0, err
		}
		if found >= 0 {
			return before + found, nil
		}
		before += f.Rows
	}
	return 0, relabel.Errorf(relabel.CodeNotFound, "the view has no row named %q; its %d rows also have numbers, from 0", id, v.Len())
}

// Of lists the labels of a trajectory with the rows that contain them, in row order; none for
// bare rows, nor for files that are not Parquet. It reads only spans, or row_id in files without spans, of the files that in
// accepts.
func (v View) Of(trajectory string, in func(path string) bool) (held []relabel.HeldLabel, err error) {
	before := 0
	for _, f := range v.files {
		if in(f.Path) && v.name.IsParquet() {
			err := v.with(f, func(r *File) error {
				found, err := r.of(trajectory)
				for _, h := range found {
					held = append(held, relabel.HeldLabel{Row: before + h.Row, Span: h.Span})
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		before += f.Rows
	}
	return held, nil
}

// of lists the labels of a trajectory in a file.
func (f *File) of(trajectory string) (held []relabel.HeldLabel, err error) {
	if f.spans == nil {
		return f.named(trajectory)
	}
	var row relabel.ExportRow
	var wrong error
	err = each(f.Reader, f.spans.cursors(), func(n int, of []*parquet.Cursor) bool {
		if !slices.Contains(of[0].Texts, trajectory) {
			return true
		}
		wrong = f.spans.put(&row)
		for _, s := range row.Spans {
			if s.Trajectory == trajectory {
				held = append(held, relabel.HeldLabel{Row: n, Span: s})
			}
		}
		return wrong == nil
	})
	return held, errors.Join(err, wrong)
}

// named lists the labels of a trajectory by the row_ids of rows with one label each.
func (f *File) named(trajectory string) (held []relabel.HeldLabel, err error) {
	err = each(f.Reader, []*parquet.Cursor{f.Cursor("row_id")}, func(n int, of []*parquet.Cursor) bool {
		if len(of[0].Texts) != 1 {
			return true
		}
		whose, t, _ := strings.Cut(of[0].Texts[0], "/")
		if turn, err := strconv.Atoi(t); err == nil && whose == trajectory {
			held = append(held, relabel.HeldLabel{Row: n, Span: relabel.ExportSpan{Trajectory: trajectory, Turn: turn}})
		}
		return true
	})
	return held, err
}

// find returns the number of the row with a row_id, -1 if there is none.
func (f *File) find(id string) (found int, err error) {
	found = -1
	err = each(f.Reader, []*parquet.Cursor{f.Cursor("row_id")}, func(n int, of []*parquet.Cursor) bool {
		if len(of[0].Texts) == 1 && of[0].Texts[0] == id {
			found = n
		}
		return found < 0
	})
	return found, err
}

// each calls do for the rows of some columns until it returns false. A missing column has no rows.
func each(r *parquet.Reader, of []*parquet.Cursor, do func(n int, of []*parquet.Cursor) bool) error {
	if slices.Contains(of, nil) {
		return nil
	}
	for n := 0; n < int(r.Rows()); n++ {
		for _, c := range of {
			if err := c.Next(); err != nil {
				return err
			}
		}
		if !do(n, of) {
			return nil
		}
	}
	return nil
}
