package outfile

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
)

// Encoder encodes the rows of one file. Sizes of rows are in bytes before compression.
type Encoder[R any] interface {
	// Fits reports whether the file, which has rows, can take another one of this size.
	Fits(size int64) (bool, error)
	// Write adds a row. It does not keep the row's memory.
	Write(row R, size int64) error
	// Close writes the end of the file.
	Close() error
}

// Writer writes rows to numbered files of a view's folder, of at most MaxFile bytes. Its memory is that of the
// encoder and does not grow with the number of rows. It is not safe for concurrent use.
type Writer[R any] struct {
	root, view, suffix string
	first, step        int
	begin              func(*Output) (Encoder[R], error)

	files []File
	out   *Output
	rows  Encoder[R]
	sum   File // rows and tokens of the open file
}

// NewWriter returns a Writer for root/<view>/NNNNN<suffix>, whose numbers are first, first + step, …; begin starts a
// file. It creates no file before the first row.
func NewWriter[R any](root, view, suffix string, first, step int, begin func(*Output) (Encoder[R], error)) *Writer[R] {
	return &Writer[R]{root: root, view: view, suffix: suffix, first: first, step: max(step, 1), begin: begin}
}

// Path returns the path of the next file to be started.
func (w *Writer[R]) Path() string {
	return path.Join(w.view, fmt.Sprintf("%05d%s", w.first+w.step*len(w.files), w.suffix))
}

// Skip counts a file of an earlier attempt as written; the next file gets the number after
// it. No file may be open.
func (w *Writer[R]) Skip(f File) { w.files = append(w.files, f) }

// Files returns the finished files.
func (w *Writer[R]) Files() []File { return w.files }

// Write adds a row. The caller may reuse the row's memory afterwards.
func (w *Writer[R]) Write(row R, size Size) error {
	if size.Bytes > MaxRow {
		return fmt.Errorf("a row of %d bytes is over %d", size.Bytes, int64(MaxRow))
	}
	if err := w.makeRoom(size.Bytes); err != nil {
		return err
	}
	if err := w.ensureOpen(); err != nil {
		return err
	}
	if err := w.rows.Write(row, size.Bytes); err != nil {
		return err
	}
	w.sum.Rows++
	w.sum.Tokens += size.Tokens
	w.sum.SupervisedTokens += size.Supervised
	return nil
}

// makeRoom ends the open file if the next row does not fit.
func (w *Writer[R]) makeRoom(size int64) error {
	if w.rows == nil {
		return nil
	}
	fits, err := w.rows.Fits(size)
	if fits || err != nil {
		return err
	}
	return w.closeFile()
}

// EndFile finishes the file; the next row starts a new one. If no file is open, it creates
// one without rows, so that the requested number of files exists.
func (w *Writer[R]) EndFile() error {
	if err := w.ensureOpen(); err != nil {
		return err
	}
	return w.closeFile()
}

func (w *Writer[R]) ensureOpen() (err error) {
	if w.rows != nil {
		return nil
	}
	w.sum = File{Path: w.Path()}
	if w.out, err = Create(filepath.Join(w.root, filepath.FromSlash(w.sum.Path))); err != nil {
		return err
	}
	w.rows, err = w.begin(w.out)
	return err
}

func (w *Writer[R]) closeFile() error {
	err := errors.Join(w.rows.Close(), w.out.Finish())
	if err == nil {
		w.sum.SHA256, w.sum.Bytes = w.out.SHA256(), w.out.Bytes()
		w.files = append(w.files, w.sum)
	}
	w.rows, w.out = nil, nil
	return err
}

// Close finishes the last file and returns all of them, synced to disk.
func (w *Writer[R]) Close() ([]File, error) {
	if w.rows != nil {
		if err := w.closeFile(); err != nil {
			return nil, err
		}
	}
	return w.files, nil
}

// Abort closes an unfinished file, which stays on disk as it is. It is safe to call after
// Close.
func (w *Writer[R]) Abort() {
	if w.out != nil {
		w.out.Abort()
	}
	w.rows, w.out = nil, nil
}
