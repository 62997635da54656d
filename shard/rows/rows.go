// Package rows reads the rows of an export's files, of any view.
package rows

import (
	"errors"
	"fmt"
	"io"

	"relabel"
	"relabel/shard/parquet"
)

// File reads the rows of one file in order. Its memory does not grow with the file. It is not
// safe for concurrent use.
type File struct {
	*parquet.Reader
	read    []column
	spans   *spans
	cursors []*parquet.Cursor
}

// column maps a column to its field in a row.
type column struct {
	name   string
	cursor *parquet.Cursor
	put    func(to *relabel.ExportRow, from *parquet.Cursor) error
}

// Open opens a file of a view, of the given size in bytes. Columns that the file does not
// have stay empty in its rows; Fields lists those that it has.
func Open(r io.ReaderAt, size int64) (*File, error) {
	reader, err := parquet.OpenReader(r, size)
	if err != nil {
		return nil, err
	}
	f := &File{Reader: reader}
	for _, c := range columns {
		if c.cursor = reader.Cursor(c.name); c.cursor != nil {
			f.read, f.cursors = append(f.read, c), append(f.cursors, c.cursor)
		}
	}
	if f.spans = newSpans(reader); f.spans != nil {
		f.cursors = append(f.cursors, f.spans.cursors()...)
	}
	return f, nil
}

// Next reads the next row into row, reusing its memory. It returns io.EOF after the last.
func (f *File) Next(row *relabel.ExportRow) error {
	ended := 0
	for _, c := range f.cursors {
		switch err := c.Next(); {
		case errors.Is(err, io.EOF):
			ended++
		case err != nil:
			return err
		}
	}
	if ended == len(f.cursors) {
		return io.EOF
	}
	if ended > 0 {
		return errors.New("some columns have fewer rows than others")
	}
	for _, c := range f.read {
		err := errNull
		if c.cursor.Null == nil {
			err = c.put(row, c.cursor)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	if f.spans != nil {
		return f.spans.put(row)
	}
	return nil
}

// SeekRow makes Next return row n, counting from 0.
func (f *File) SeekRow(n int64) error {
	for _, c := range f.cursors {
		if err := c.SeekRow(n); err != nil {
			return err
		}
	}
	return nil
}

// Close releases buffered pages.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.cursors {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// columns are the columns of all views, except spans.
var columns = []column{
	text("row_id", func(r *relabel.ExportRow) *string { return &r.ID }),
	text("messages_json", func(r *relabel.ExportRow) *string { return &r.Messages }),
	text("tools_json", func(r *relabel.ExportRow) *string { return &r.Tools }),
	text("label_json", func(r *relabel.ExportRow) *string { return &r.Label }),
	texts("prompt", func(r *relabel.ExportRow) *[]string { return &r.Prompt }),
	texts("completion", func(r *relabel.ExportRow) *[]string { return &r.Completion }),
	texts("chosen", func(r *relabel.ExportRow) *[]string { return &r.Chosen }),
	texts("rejected", func(r *relabel.ExportRow) *[]string { return &r.Rejected }),
	single("distance", func(r *relabel.ExportRow) *float32 { return &r.Distance }),
	text("tools", func(r *relabel.ExportRow) *string { return &r.Tools }),
	text("chat_template_kwargs", func(r *relabel.ExportRow) *string { return &r.Variables }),
	ints("input_ids", func(r *relabel.ExportRow) *[]int32 { return &r.IDs }),
	ints("tree_ids", func(r *relabel.ExportRow) *[]int32 { return &r.IDs }),
	ints("labels", func(r *relabel.ExportRow) *[]int32 { return &r.Labels }),
	ints("tree_labels", func(r *relabel.ExportRow) *[]int32 { return &r.Labels }),
	ints("attention_mask", func(r *relabel.ExportRow) *[]int32 { return &r.AttentionMask }),
	ints("loss_mask", func(r *relabel.ExportRow) *[]int32 { return &r.LossMask }),
	ints("position_ids", func(r *relabel.ExportRow) *[]int32 { return &r.Positions }),
	ints("seq_lengths", func(r *relabel.ExportRow) *[]int32 { return &r.SeqLengths }),
	ints("seq_start_id", func(r *relabel.ExportRow) *[]int32 { return &r.SeqStarts }),
	ints("subtree_end", func(r *relabel.ExportRow) *[]int32 { return &r.SubtreeEnd }),
	ints("node_start", func(r *relabel.ExportRow) *[]int32 { return &r.NodeStart }),
	ints("node_parent", func(r *relabel.ExportRow) *[]int32 { return &r.NodeParent }),
	ints("node_kind", func(r *relabel.ExportRow) *[]int32 { return &r.NodeKind }),
	floats("loss_weights", func(r *relabel.ExportRow) *[]float32 { return &r.Weights }),
	floats("teacher_logprobs", func(r *relabel.ExportRow) *[]float32 { return &r.TeacherLogprobs }),
	floats("student_logprobs", func(r *relabel.ExportRow) *[]float32 { return &r.StudentLogprobs }),
	floats("advantages", func(r *relabel.ExportRow) *[]float32 { return &r.Advantages }),
}

var (
	errNull = errors.New("contains a null")
	errType = errors.New("contains values whose type differs from the view's")
)

func text(name string, at func(*relabel.ExportRow) *string) column {
	return column{name: name, put: func(to *relabel.ExportRow, from *parquet.Cursor) error {
		if len(from.Texts) != 1 {
			return errType
		}
		*at(to) = from.Texts[0]
		return nil
	}}
}

// texts maps a column of texts, or of lists of texts, to a field.
func texts(name string, at func(*relabel.ExportRow) *[]string) column {
	return column{name: name, put: func(to *relabel.ExportRow, from *parquet.Cursor) error {
		if len(from.Ints)+len(from.Floats) > 0 {
			return errType
		}
		*at(to) = append((*at(to))[:0], from.Texts...)
		return nil
	}}
}

// single maps a column of one number to a field.
func single(name string, at func(*relabel.ExportRow) *float32) column {
	return column{name: name, put: func(to *relabel.ExportRow, from *parquet.Cursor) error {
		if len(from.Floats) != 1 {
			return errType
		}
		*at(to) = from.Floats[0]
		return nil
	}}
}

func ints(name string, at func(*relabel.ExportRow) *[]int32) column {
	return list(name, at, func(c *parquet.Cursor) *[]int32 { return &c.Ints })
}

func floats(name string, at func(*relabel.ExportRow) *[]float32) column {
	return list(name, at, func(c *parquet.Cursor) *[]float32 { return &c.Floats })
}

// list maps a list column to a field; values returns the cursor's values of the field's type.
func list[T any](name string, at func(*relabel.ExportRow) *[]T, values func(*parquet.Cursor) *[]T) column {
	return column{name: name, put: func(to *relabel.ExportRow, from *parquet.Cursor) error {
		v := values(from)
		if len(*v) != len(from.Ints)+len(from.Floats)+len(from.Texts) {
			return errType
		}
		*at(to), *v = *v, *at(to) // the cursor reuses the row's memory
		return nil
	}}
}
