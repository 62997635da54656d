// Package parquet writes the rows of a view as Parquet files that trainers can read directly: zstd,
// bounded row groups and files, and the same bytes for the same rows.
package parquet

import (
	"github.com/parquet-go/parquet-go"

	"relabel/shard/outfile"
)

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

// limits bound row groups and files, in bytes.
type limits struct {
	group    int64 // of a row group, compressed
	groupRaw int64 // of a row group, before compression: what a reader holds in memory
	file     int64 // of a file
	page     int   // of a page, before compression
}

// MaxGroup is the largest row group, in bytes after compression. It can hold any row of outfile.MaxRow bytes, however
// badly that compresses.
const MaxGroup = 16 << 20

// The limits of every export. States of a trajectory start alike. On a page with dozens of them zstd
// stores each beginning once, which makes files ten times smaller than with the usual 256 KiB pages.
var shardLimits = limits{group: MaxGroup - 256<<10, groupRaw: 128 << 20, file: outfile.MaxFile, page: 8 << 20}

// NewWriter returns a writer of rows of type R, a struct with parquet tags, to root/<view>/NNNNN.parquet; version is
// relabel's.
func NewWriter[R any](root string, layout Layout, version string) *outfile.Writer[R] {
	limits := shardLimits
	if layout.Page > 0 {
		limits.page = layout.Page
	}
	return newWriter[R](root, layout, version, limits)
}

func newWriter[R any](root string, layout Layout, version string, limits limits) *outfile.Writer[R] {
	return outfile.NewWriter(root, layout.View, layout.Infix+".parquet", layout.First, layout.Step, func(out *outfile.Output) (outfile.Encoder[R], error) {
		return &encoder[R]{limits: limits, rows: parquet.NewGenericWriter[R](out, optionsOf[R](layout, version, limits)...)}, nil
	})
}

// optionsOf configures the library for the files of a view.
func optionsOf[R any](layout Layout, version string, limits limits) []parquet.WriterOption {
	options := []parquet.WriterOption{
		parquet.Compression(new(codec)),
		parquet.PageBufferSize(limits.page),
		parquet.CreatedBy("relabel", version, ""),
		parquet.DataPageStatistics(false),
		parquet.KeyValueMetadata("relabel.view", layout.View),
		parquet.KeyValueMetadata("relabel.loss_mask", layout.LossMask),
	}
	var omitted []parquet.SchemaOption
	for _, path := range layout.Omit {
		tag := parquet.StructTag(`parquet:"-"`, path...)
		omitted, options = append(omitted, tag), append(options, tag.(parquet.WriterOption))
	}
	for _, column := range parquet.SchemaOf(*new(R), omitted...).Columns() {
		options = append(options, parquet.SkipPageBounds(column...)) // they would repeat whole states
	}
	return options
}

// encoder writes one file.
type encoder[R any] struct {
	limits limits
	rows   *parquet.GenericWriter[R]
	start  int64 // rows.Size() when the open row group began
	raw    int64 // bytes in the open row group, before compression
}

// Fits implements outfile.Encoder. It ends the row group if the row would exceed its limit; the file is full if it has
// no room for another row group. The library counts buffered pages uncompressed, so its size is never too low.
func (e *encoder[R]) Fits(size int64) (bool, error) {
	if e.rows.Size()-e.start+size <= e.limits.group && e.raw+size <= e.limits.groupRaw {
		return true, nil
	}
	if err := e.rows.Flush(); err != nil {
		return false, err
	}
	e.start, e.raw = e.rows.Size(), 0
	footer := e.limits.group / 4 // far more than a footer takes
	return e.start+e.limits.group+footer <= e.limits.file, nil
}

// Leveled is a row that gives the values of its columns itself, because the library writes lists of JSON as empty ones.
type Leveled interface{ Values() parquet.Row }

// Write implements outfile.Encoder.
func (e *encoder[R]) Write(row R, size int64) (err error) {
	e.raw += size
	if values, is := any(row).(Leveled); is {
		_, err = e.rows.WriteRows([]parquet.Row{values.Values()})
	} else {
		_, err = e.rows.Write([]R{row})
	}
	return err
}

// Close implements outfile.Encoder.
func (e *encoder[R]) Close() error { return e.rows.Close() }
