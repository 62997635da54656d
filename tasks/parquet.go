package tasks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
)

// maxFooter bounds the metadata of a Parquet file, in bytes.
const maxFooter = 64 << 20

// readParquet passes each row of a Parquet file to yield, which returns false to end it. It holds a page of each
// column. Damaged files can make the library panic anywhere.
func readParquet(in Input, file string, yield func(*taskLine) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(error); !ours {
				p = fmt.Errorf("%v", p)
			}
			err = fmt.Errorf("is damaged: %w", p.(error))
		}
	}()
	if err := checkFooter(in); err != nil {
		return err
	}
	f, err := parquet.OpenFile(in, in.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true), parquet.ReadBufferSize(1<<16))
	if err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	fields := fieldsOf(f.Root())
	number := int64(0)
	for i, group := range f.RowGroups() {
		if err := checkPages(in, f.Metadata().RowGroups[i], Place{file, "row", int(number) + 1}); err != nil {
			return err
		}
		more, err := readGroup(group, fields, Place{file, "row", int(number)}, yield)
		if err != nil || !more {
			return err
		}
		number += group.NumRows()
	}
	return nil
}

// checkFooter checks that the file is complete, so that it begins and ends with the format's mark, and that its metadata
// is within bounds.
func checkFooter(in Input) error {
	var tail [8]byte
	if in.Size() < 12 {
		return errors.New("is a Parquet file that is cut off")
	}
	if _, err := in.ReadAt(tail[:], in.Size()-8); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if !bytes.Equal(tail[4:], []byte("PAR1")) {
		return errors.New("is a Parquet file that is cut off: it does not end with PAR1")
	}
	if size := binary.LittleEndian.Uint32(tail[:4]); size > maxFooter {
		return fmt.Errorf("is damaged: its metadata has %d bytes, more than %d", size, maxFooter)
	}
	metadata := make([]byte, min(int64(binary.LittleEndian.Uint32(tail[:4])), in.Size()-8))
	if _, err := in.ReadAt(metadata, in.Size()-8-int64(len(metadata))); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if err := checkMetadata(metadata); err != nil {
		return fmt.Errorf("is damaged: %w", err)
	}
	return nil
}

// readGroup passes the rows of a row group to yield. before is the place before its first row.
func readGroup(group parquet.RowGroup, fields []*field, before Place, yield func(*taskLine) bool) (more bool, err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	buffer := make([]parquet.Row, 1)
	values := cells{}
	var text []byte
	for place := before; ; {
		n, err := rows.ReadRows(buffer)
		if n == 0 {
			if err == nil || errors.Is(err, io.EOF) {
				if missing := int64(before.Row) + group.NumRows() - int64(place.Row); missing != 0 {
					return false, fmt.Errorf("is damaged: %d rows are missing after %s", missing, place.inFile())
				}
				return true, nil
			}
			place.Row++
			return false, fmt.Errorf("is damaged in %s: %w", place.inFile(), err)
		}
		place.Row++
		values.reset(buffer[0])
		line := rowLine(place, fields, &values, &text)
		if !yield(line) {
			return false, nil
		}
	}
}

// rowLine makes a row's fields. text is reused.
func rowLine(place Place, fields []*field, values *cells, text *[]byte) *taskLine {
	line := newTaskLine(place, make(map[string]json.RawMessage, len(fields)))
	*text = (*text)[:0]
	ends := make([]int, 0, len(fields))
	for _, f := range fields {
		var err error
		if *text, err = f.append(*text, values); err != nil {
			line.refuse(f.name, "%s", err)
		}
		ends = append(ends, len(*text))
		if len(*text) > MaxLine {
			line.refuse(f.name, "makes the row longer than %d MiB", MaxLine>>20)
			break
		}
	}
	from := 0
	for i, end := range ends {
		if end > from {
			line.fields[fields[i].name] = json.RawMessage((*text)[from:end:end])
		}
		from = end
	}
	return line
}

// cells are the values of a row by leaf column.
type cells struct {
	of map[int][]parquet.Value
}

// reset begins another row.
func (c *cells) reset(row parquet.Row) {
	if c.of == nil {
		c.of = map[int][]parquet.Value{}
	}
	clear(c.of)
	row.Range(func(column int, values []parquet.Value) bool {
		c.of[column] = values
		return true
	})
}

// field is a column, or a part of one.
type field struct {
	name       string
	optional   bool
	form       form
	definition int // level from which it is present
	repetition int // level at which its items repeat
	items      int // definition level from which a list has an item
	leaf       int // the first leaf column of it
	leaves     int // number of leaf columns
	children   []*field
}

// form is what a column becomes in JSON.
type form int

const (
	scalarForm form = iota
	objectForm
	listForm
	mapForm
)

var errNotUTF8 = errors.New("is not UTF-8")

// append appends the value of the row as JSON.
func (f *field) append(out []byte, values *cells) ([]byte, error) {
	first := values.of[f.leaf]
	if len(first) == 0 {
		return append(out, "null"...), nil
	}
	if f.optional && first[0].DefinitionLevel() < f.definition {
		f.skip(values)
		return append(out, "null"...), nil
	}
	switch f.form {
	case objectForm:
		return f.appendObject(out, values)
	case listForm, mapForm:
		return f.appendItems(out, values)
	}
	value := first[0]
	f.skip(values)
	return appendValue(out, value)
}

// skip passes one value of each leaf, which a null or an empty list has.
func (f *field) skip(values *cells) {
	for leaf := f.leaf; leaf < f.leaf+f.leaves; leaf++ {
		if len(values.of[leaf]) > 0 {
			values.of[leaf] = values.of[leaf][1:]
		}
	}
}

func (f *field) appendObject(out []byte, values *cells) (_ []byte, err error) {
	out = append(out, '{')
	for i, child := range f.children {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, []byte(child.name)), ':')
		if out, err = child.append(out, values); err != nil {
			return out, err
		}
	}
	return append(out, '}'), nil
}

// appendItems appends a list, whose child is its item, or a map, whose children are key and value.
func (f *field) appendItems(out []byte, values *cells) (_ []byte, err error) {
	open, end := byte('['), byte(']')
	if f.form == mapForm {
		open, end = '{', '}'
	}
	out = append(out, open)
	if values.of[f.leaf][0].DefinitionLevel() < f.items {
		f.skip(values)
		return append(out, end), nil
	}
	for more := true; more; {
		for i, child := range f.children {
			if i > 0 {
				out = append(out, ':')
			}
			if out, err = child.append(out, values); err != nil {
				return out, err
			}
		}
		if len(out) > 2*MaxLine {
			return out, fmt.Errorf("is longer than %d MiB", 2*MaxLine>>20)
		}
		rest := values.of[f.leaf]
		if more = len(rest) > 0 && rest[0].RepetitionLevel() == f.repetition; more {
			out = append(out, ',')
		}
	}
	return append(out, end), nil
}

// appendValue appends a value of a leaf column. Bytes are taken for text.
func appendValue(out []byte, value parquet.Value) ([]byte, error) {
	switch value.Kind() {
	case parquet.Boolean:
		return fmt.Appendf(out, "%t", value.Boolean()), nil
	case parquet.Int32, parquet.Int64:
		return fmt.Appendf(out, "%d", value.Int64()), nil
	case parquet.Float, parquet.Double:
		text, err := json.Marshal(value.Double())
		if err != nil { // NaN, infinite
			text = []byte("null")
		}
		return append(out, text...), nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		text := value.ByteArray()
		if !utf8.Valid(text) {
			return append(out, "null"...), errNotUTF8
		}
		return appendQuoted(out, text), nil
	}
	return appendQuoted(out, []byte(value.String())), nil
}
