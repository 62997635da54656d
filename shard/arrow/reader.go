package arrow

import (
	"cmp"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"relabel/shard/outfile"
)

// Reader reads the rows of one file in order. Its memory is that of one batch.
type Reader struct {
	from  *ipc.Reader
	batch arrow.RecordBatch
	next  int
}

// NewReader starts reading a stream. It fails if the columns are not those of Row.
func NewReader(r io.Reader) (_ *Reader, err error) {
	defer recovered(&err)
	from, err := ipc.NewReader(&guard{from: r})
	if err != nil {
		return nil, fmt.Errorf("is not an Arrow stream: %w", err)
	}
	want := schema()
	if have := from.Schema(); len(have.Fields()) != len(want.Fields()) {
		return nil, fmt.Errorf("has %d columns, expected %v", len(have.Fields()), names)
	}
	for i, field := range want.Fields() {
		if have := from.Schema().Field(i); have.Name != field.Name || !arrow.TypeEqual(have.Type, field.Type) {
			return nil, fmt.Errorf("column %d is %s %s, expected %s %s", i, have.Name, have.Type, field.Name, field.Type)
		}
	}
	return &Reader{from: from}, nil
}

// Next returns the next row, valid until the next call; io.EOF after the last.
func (r *Reader) Next() (row Row, err error) {
	defer recovered(&err)
	for r.batch == nil || r.next == int(r.batch.NumRows()) {
		if !r.from.Next() {
			return row, cmp.Or(r.from.Err(), io.EOF)
		}
		r.batch, r.next = r.from.RecordBatch(), 0
	}
	for i := range names {
		column := r.batch.Column(i).(*array.List) // by the schema
		if column.IsNull(r.next) || column.ListValues().NullN() > 0 {
			return row, fmt.Errorf("%s contains a null", names[i])
		}
		from, to := column.ValueOffsets(r.next)
		if to-from > outfile.MaxRow {
			return row, fmt.Errorf("%s has %d values", names[i], to-from)
		}
		switch values := column.ListValues().(type) {
		case *array.Int32:
			if ids := values.Int32Values()[from:to]; i == 0 {
				row.InputIDs = ids
			} else {
				row.Labels = ids
			}
		case *array.Int8:
			row.AttentionMask = values.Int8Values()[from:to]
		}
	}
	r.next++
	return row, nil
}

// recovered turns a panic of the library at invalid bytes into an error.
func recovered(err *error) {
	if why := recover(); why != nil {
		*err = fmt.Errorf("is not a valid Arrow stream: %v", why)
	}
}
