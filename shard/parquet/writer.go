// Package parquet writes the rows of a view as Parquet files that trainers can read directly: zstd,
// bounded row groups and files, and the same bytes for the same rows.
package parquet

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"relabel/shard/outfile"
)

// MaxRow is the maximum size of a row, in bytes before compression: about half a million
// tokens in a token view. A row group can hold any row up to this size, however badly it
// compresses.
const MaxRow = outfile.MaxRow

// Layout describes the files of a view.
type Layout struct {
	View     string // folder of the files, and the metadata relabel.view
	LossMask string // metadata relabel.loss_mask, the alignment of loss_mask: token, rolled-1 or none
	Infix    string // inserted in file names before .parquet: "" or ".idx"
	First    int    // number of the first file
	Step     int    // increment of file numbers; 0: 1
	Page     int    // bytes of a column's page, before compression; 0: 8 MiB
	// Omit are the fields of the row type that the files do not have, each as the path of a Go
	// field; elements of a list are below <column>, list, element.
	Omit [][]string
}

// Size is the contribution of a row to its file.
type Size = outfile.Size

// limits bound row groups and files, in bytes.
type limits struct {
	group    int64 // of a row group, compressed
	groupRaw int64 // of a row group, before compression: what a reader holds in memory
	file     int64 // of a file
	page     int   // of a page, before compression
}

// MaxGroup is the largest row group, in bytes after compression; MaxFile the largest file.
const (
	MaxGroup = 16 << 20
	MaxFile  = outfile.MaxFile
)

// The limits of every export. States of a trajectory start alike. On a page with dozens of them zstd
// stores each beginning once, which makes files ten times smaller than with the usual 256 KiB pages.
var shardLimits = limits{group: MaxGroup - 256<<10, groupRaw: 128 << 20, file: MaxFile, page: 8 << 20}

// File describes a finished file.
type File = outfile.File

// Writer writes rows of type R, a struct with parquet tags, to numbered files in the view's
// folder. Its memory does not grow with the number of rows. It is not safe for concurrent
// use.
type Writer[R any] struct {
	root, version string
	layout        Layout
	limits        limits

	files []File
	out   *outfile.Output
	rows  *parquet.GenericWriter[R]
	sum   File  // rows and tokens of the open file
	start int64 // rows.Size() when the open row group began
	raw   int64 // bytes in the open row group, before compression
}

// NewWriter returns a Writer for root/<view>/NNNNN.parquet; version is relabel's. It creates
// no file before the first row.
func NewWriter[R any](root string, layout Layout, version string) *Writer[R] {
	w := &Writer[R]{root: root, layout: layout, version: version, limits: shardLimits}
	if layout.Page > 0 {
		w.limits.page = layout.Page
	}
	return w
}

// Write adds a row. The caller may reuse the row's memory afterwards.
func (w *Writer[R]) Write(row R, size Size) error {
	if size.Bytes > MaxRow {
		return fmt.Errorf("a row of %d bytes is over %d", size.Bytes, int64(MaxRow))
	}
	if err := w.ensureOpen(); err != nil {
		return err
	}
	if err := w.makeRoom(size.Bytes); err != nil {
		return err
	}
	if err := w.add(row); err != nil {
		return err
	}
	w.raw += size.Bytes
	w.sum.Rows++
	w.sum.Tokens += size.Tokens
	w.sum.SupervisedTokens += size.Supervised
	return nil
}

// Leveled is a row that gives the values of its columns itself, because the library writes lists of JSON as empty ones.
type Leveled interface{ Values() parquet.Row }

// add passes a row to the library.
func (w *Writer[R]) add(row R) error {
	if values, is := any(row).(Leveled); is {
		_, err := w.rows.WriteRows([]parquet.Row{values.Values()})
		return err
	}
	_, err := w.rows.Write([]R{row})
	return err
}

// EndFile finishes the file; the next row starts a new one. If no file is open, it creates
// one without rows, so that the requested number of files exists.
func (w *Writer[R]) EndFile() error {
	if err := w.ensureOpen(); err != nil {
		return err
	}
	return w.closeFile()
}

// ensureOpen starts a file if none is open.
func (w *Writer[R]) ensureOpen() error {
	if w.rows != nil {
		return nil
	}
	return w.open()
}

// Path returns the path of the next file to be started.
func (w *Writer[R]) Path() string {
	number := w.layout.First + max(w.layout.Step, 1)*len(w.files)
	return path.Join(w.layout.View, fmt.Sprintf("%05d%s.parquet", number, w.layout.Infix))
}

// Skip counts a file of an earlier attempt as written; the next file gets the number after
// it. No file may be open.
func (w *Writer[R]) Skip(f File) { w.files = append(w.files, f) }

// Files returns the finished files.
func (w *Writer[R]) Files() []File { return w.files }

// makeRoom ends the row group, or the file, if the next row would exceed its limit. Size
// counts buffered pages uncompressed, so it is never too low.
func (w *Writer[R]) makeRoom(size int64) error {
	if w.raw == 0 || (w.rows.Size()-w.start+size <= w.limits.group && w.raw+size <= w.limits.groupRaw) {
		return nil
	}
	if err := w.rows.Flush(); err != nil {
		return err
	}
	w.start, w.raw = w.rows.Size(), 0
	footer := w.limits.group / 4 // far more than a footer takes
	if w.start+w.limits.group+footer <= w.limits.file {
		return nil
	}
	if err := w.closeFile(); err != nil {
		return err
	}
	return w.open()
}

// open starts the next file.
func (w *Writer[R]) open() error {
	name := w.Path()
	out, err := outfile.Create(filepath.Join(w.root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	options := []parquet.WriterOption{
		parquet.Compression(new(codec)),
		parquet.PageBufferSize(w.limits.page),
		parquet.CreatedBy("relabel", w.version, ""),
		parquet.DataPageStatistics(false),
		parquet.KeyValueMetadata("relabel.view", w.layout.View),
		parquet.KeyValueMetadata("relabel.loss_mask", w.layout.LossMask),
	}
	var omitted []parquet.SchemaOption
	for _, path := range w.layout.Omit {
		tag := parquet.StructTag(`parquet:"-"`, path...)
		omitted, options = append(omitted, tag), append(options, tag.(parquet.WriterOption))
	}
	for _, column := range parquet.SchemaOf(*new(R), omitted...).Columns() {
		options = append(options, parquet.SkipPageBounds(column...)) // they would repeat whole states
	}
	w.out, w.rows = out, parquet.NewGenericWriter[R](out, options...)
	w.sum, w.start, w.raw = File{Path: name}, 0, 0
	return nil
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
