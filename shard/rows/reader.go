package rows

import (
	"io"
	"slices"

	"relabel"
	"relabel/shard/arrow"
	"relabel/shard/dialect"
	"relabel/shard/jsonl"
)

// Reader reads the rows of one file of a view in order, in any format.
type Reader interface {
	// Next reads the next row into row, reusing its memory. It returns io.EOF after the last.
	Next(row *relabel.ExportRow) error
	Close() error
}

// OpenReader opens a file of a view in the given dialect ("" for views without one), of the given size in bytes.
func OpenReader(view relabel.View, d relabel.Dialect, r io.ReaderAt, size int64) (Reader, error) {
	switch view {
	case relabel.ViewArrow:
		reader, err := arrow.NewReader(io.NewSectionReader(r, 0, size))
		return stream{reader}, err
	case relabel.ViewChat:
		return lines{jsonl.NewReader(io.NewSectionReader(r, 0, size)), d}, nil
	}
	return Open(r, size)
}

// stream reads rows of the view arrow.
type stream struct{ from *arrow.Reader }

// Next implements Reader.
func (s stream) Next(row *relabel.ExportRow) error {
	r, err := s.from.Next()
	if err != nil {
		return err
	}
	row.IDs, row.Labels = append(row.IDs[:0], r.InputIDs...), append(row.Labels[:0], r.Labels...)
	row.AttentionMask = slices.Grow(row.AttentionMask[:0], len(r.AttentionMask))
	for _, v := range r.AttentionMask {
		row.AttentionMask = append(row.AttentionMask, int32(v))
	}
	return nil
}

// Close implements Reader.
func (stream) Close() error { return nil }

// lines reads rows of the view chat. Those of token ids are decoded.
type lines struct {
	from    *jsonl.Reader
	dialect relabel.Dialect
}

// Next implements Reader.
func (l lines) Next(row *relabel.ExportRow) error {
	line, err := l.from.Next()
	if err != nil {
		return err
	}
	row.Line = string(line)
	if l.dialect != relabel.DialectLoss {
		return nil
	}
	row.ID, row.IDs, row.Labels, row.Weights, err = dialect.ReadTokenLine(line, row.IDs[:0], row.Labels[:0], row.Weights[:0])
	return err
}

// Close implements Reader.
func (lines) Close() error { return nil }
