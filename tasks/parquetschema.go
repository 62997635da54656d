package tasks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// fieldsOf returns the columns of a schema.
func fieldsOf(root *parquet.Column) []*field {
	leaf := 0
	var fields []*field
	for _, c := range root.Columns() {
		fields = append(fields, fieldOf(c, &leaf))
	}
	return fields
}

// fieldOf describes a column. leaf is the next leaf column, and moves on.
func fieldOf(c *parquet.Column, leaf *int) *field {
	f := &field{name: c.Name(), optional: c.Optional(), definition: c.MaxDefinitionLevel(), leaf: *leaf}
	children := c.Columns()
	switch {
	case c.Repeated(): // a list without the group around it
		item := *f
		item.fill(c, leaf)
		f.form, f.items, f.repetition, f.children = listForm, f.definition, c.MaxRepetitionLevel(), []*field{&item}
	case len(children) == 1 && children[0].Repeated():
		repeated := children[0]
		f.form, f.items, f.repetition = listForm, repeated.MaxDefinitionLevel(), repeated.MaxRepetitionLevel()
		inner := repeated.Columns()
		if isMap(c) && len(inner) == 2 {
			f.form = mapForm
		}
		if f.form == mapForm || len(inner) == 1 && repeated.Name() != "array" && repeated.Name() != c.Name()+"_tuple" {
			for _, child := range inner {
				f.children = append(f.children, fieldOf(child, leaf))
			}
			break
		}
		item := &field{name: repeated.Name(), definition: f.items, leaf: *leaf}
		item.fill(repeated, leaf)
		f.children = []*field{item}
	default:
		f.fill(c, leaf)
	}
	f.leaves = *leaf - f.leaf
	return f
}

// fill makes f a leaf or an object of a column's children.
func (f *field) fill(c *parquet.Column, leaf *int) {
	if c.Leaf() {
		*leaf++
		f.leaves = 1
		return
	}
	f.form = objectForm
	for _, child := range c.Columns() {
		f.children = append(f.children, fieldOf(child, leaf))
	}
	f.leaves = *leaf - f.leaf
}

// isMap reports whether a column is a map.
func isMap(c *parquet.Column) bool {
	if l := c.Type().LogicalType(); l != nil {
		_, ok := l.Value.(*format.MapType)
		return ok
	}
	return c.Columns()[0].Name() == "key_value"
}

// Bounds of the pages of a Parquet file. A page of each column is in memory at a time, compressed and decompressed.
const (
	maxPage       = 96 << 20 // decompressed bytes
	maxPages      = 160 << 20
	maxPageValues = 4 << 20
)

// checkPages refuses a row group with pages that take too much memory, before they are read: small pages can claim
// to grow without end.
func checkPages(in Input, group format.RowGroup, at Place) error {
	total := int64(0)
	for _, chunk := range group.Columns {
		largest, err := largestPage(in, chunk.MetaData)
		name := strings.Join(chunk.MetaData.PathInSchema, ".")
		switch {
		case err != nil:
			return fmt.Errorf("is damaged: %s and below: %s: %w", at.inFile(), name, err)
		case largest > maxPage:
			return fmt.Errorf("%s and below: %s: a page has %d MiB, more than %d: write the file with smaller pages or rows", at.inFile(), name, largest>>20, maxPage>>20)
		}
		total += largest
	}
	if total > maxPages {
		return fmt.Errorf("%s and below: the largest pages of all columns have %d MiB, more than %d: write the file with smaller pages", at.inFile(), total>>20, maxPages>>20)
	}
	return nil
}

// largestPage returns the decompressed size of the largest page of a column chunk, by the headers of its pages.
func largestPage(in Input, meta format.ColumnMetaData) (largest int64, err error) {
	at := meta.DataPageOffset
	if meta.DictionaryPageOffset > 0 {
		at = min(at, meta.DictionaryPageOffset)
	}
	end := at + meta.TotalCompressedSize
	if at < 0 || meta.TotalCompressedSize < 0 || end > in.Size() {
		return 0, errors.New("its pages lie outside of the file")
	}
	section := io.NewSectionReader(in, at, meta.TotalCompressedSize)
	buffered := bufio.NewReaderSize(section, 1<<10) // the headers alone are read
	decoder := thrift.NewDecoder((&thrift.CompactProtocol{}).NewReader(buffered))
	for values := int64(0); values < meta.NumValues; {
		header := format.PageHeader{}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, err
		}
		here := read - int64(buffered.Buffered())
		if err := checkThrift(io.NewSectionReader(in, at+here, meta.TotalCompressedSize-here), maxPageHeader); err != nil {
			return 0, fmt.Errorf("the header of a page: %w", err)
		}
		if err := decoder.Decode(&header); err != nil {
			return 0, fmt.Errorf("the header of a page: %w", err)
		}
		n := int64(header.DataPageHeader.V.NumValues) + int64(header.DataPageHeaderV2.V.NumValues)
		if n > maxPageValues || header.DictionaryPageHeader.V.NumValues > maxPageValues || n < 0 || header.CompressedPageSize < 0 {
			return 0, fmt.Errorf("a page of %d values", n)
		}
		values += n
		largest = max(largest, int64(header.UncompressedPageSize), int64(header.CompressedPageSize))
		skip := int64(header.CompressedPageSize) - int64(buffered.Buffered())
		if skip <= 0 {
			_, _ = buffered.Discard(int(header.CompressedPageSize))
			continue
		}
		place, err := section.Seek(skip, io.SeekCurrent)
		if err != nil || place > meta.TotalCompressedSize {
			return 0, errors.New("a page is cut off")
		}
		buffered.Reset(section)
	}
	return largest, nil
}
