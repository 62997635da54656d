package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// Cursor iterates over one leaf column, row by row. A row has one value, or all values of its
// list. It holds one page in memory and is not safe for concurrent use.
type Cursor struct {
	file   *parquet.File
	column *parquet.Column
	place  byte // definition level at which a value's slot exists
	full   byte // definition level of a value

	group int // row group whose pages are open
	pages parquet.Pages
	page  parquet.Page
	data  encoding.Values
	index []int32 // of the page's values in data, which is then a dictionary; nil: data has the values
	reps  []byte
	defs  []byte
	level int // next slot of the page
	value int // next value of the page
	count int // slots of the page

	// The values of the row, one of them by the column's type; valid until the next row.
	Ints   []int32
	Floats []float32
	Texts  []string
	Null   []bool // which values are null (and 0 or "" above); nil if none is
}

// Cursor returns a cursor for the leaf column of a path, nil if there is none. The path omits the
// levels between a list and its elements: spans, turn.
func (r *Reader) Cursor(path ...string) *Cursor {
	c, place, level := r.file.Root(), byte(0), byte(0)
	down := func(to *parquet.Column) {
		c = to
		if c.Optional() || c.Repeated() {
			level++
		}
		if c.Repeated() {
			place = level
		}
	}
	for _, name := range path {
		next := c.Column(name)
		if next == nil {
			return nil
		}
		down(next)
		for !c.Leaf() && len(c.Columns()) == 1 && (c.Columns()[0].Repeated() || c.Repeated()) {
			down(c.Columns()[0])
		}
	}
	if !c.Leaf() {
		return nil
	}
	return &Cursor{file: r.file, column: c, place: place, full: level, group: -1}
}

// Next advances to the next row. It returns io.EOF after the last.
func (c *Cursor) Next() (err error) {
	defer damaged(&err)
	c.Ints, c.Floats, c.Texts, c.Null = c.Ints[:0], c.Floats[:0], c.Texts[:0], nil
	for begun := false; ; begun = true {
		if c.level == c.count {
			switch err := c.nextPage(); {
			case errors.Is(err, io.EOF) && begun:
				return nil
			case err != nil:
				return err
			}
		}
		if begun && (c.reps == nil || c.reps[c.level] == 0) {
			return nil
		}
		end := c.level + 1
		if c.reps != nil {
			if end = bytes.IndexByte(c.reps[c.level+1:], 0); end < 0 {
				end = c.count
			} else {
				end += c.level + 1
			}
		}
		if err := c.take(end); err != nil {
			return err
		}
		if end < c.count || c.reps == nil {
			return nil
		}
	}
}

// take appends the slots up to end to the row.
func (c *Cursor) take(end int) error {
	from := c.level
	c.level = end
	if c.defs == nil || bytes.Count(c.defs[from:end], []byte{c.full}) == end-from {
		return c.values(end - from)
	}
	for _, level := range c.defs[from:end] {
		switch {
		case level == c.full:
			if err := c.values(1); err != nil {
				return err
			}
		case level >= c.place:
			c.null()
		}
	}
	return nil
}

// values appends the next n values to the row.
func (c *Cursor) values(n int) error {
	from, to := c.value, c.value+n
	c.value = to
	if c.Null != nil {
		c.Null = append(c.Null, make([]bool, n)...)
	}
	switch c.data.Kind() {
	case encoding.Int32:
		c.Ints = gather(c.Ints, c.data.Int32(), c.index, from, to)
	case encoding.Float:
		c.Floats = gather(c.Floats, c.data.Float(), c.index, from, to)
	case encoding.ByteArray:
		text, offsets := c.data.ByteArray()
		for i := from; i < to; i++ {
			at := i
			if c.index != nil {
				at = int(c.index[i])
			}
			c.Texts = append(c.Texts, string(text[offsets[at]:offsets[at+1]]))
		}
	default:
		return fmt.Errorf("column %s has a type that no view has", strings.Join(c.column.Path(), "."))
	}
	return nil
}

// gather appends the values from up to to of a page to dst, which are dictionary values if index is
// not nil.
func gather[T any](dst, data []T, index []int32, from, to int) []T {
	if index == nil {
		return append(dst, data[from:to]...)
	}
	for _, i := range index[from:to] {
		dst = append(dst, data[i])
	}
	return dst
}

// null appends a null to the row.
func (c *Cursor) null() {
	if c.Null == nil {
		c.Null = make([]bool, max(len(c.Ints), len(c.Floats), len(c.Texts)))
	}
	c.Null = append(c.Null, true)
	switch c.column.Type().Kind() {
	case parquet.Int32:
		c.Ints = append(c.Ints, 0)
	case parquet.Float:
		c.Floats = append(c.Floats, 0)
	default:
		c.Texts = append(c.Texts, "")
	}
}

// nextPage reads the next page that contains a row, continuing with the next row group at the
// end of this one.
func (c *Cursor) nextPage() error {
	for {
		c.release()
		if c.pages != nil {
			page, err := c.pages.ReadPage()
			if err == nil {
				c.hold(page)
				if c.count > 0 {
					return nil
				}
				continue
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
		}
		if c.group+1 >= len(c.file.RowGroups()) {
			return io.EOF
		}
		if err := c.open(c.group + 1); err != nil {
			return err
		}
	}
}

// hold makes a page the current one.
func (c *Cursor) hold(page parquet.Page) {
	c.page, c.level, c.value, c.count = page, 0, 0, int(page.NumValues())
	c.reps, c.defs, c.data, c.index = page.RepetitionLevels(), page.DefinitionLevels(), page.Data(), nil
	if d := page.Dictionary(); d != nil {
		c.index, c.data = c.data.Int32(), d.Page().Data()
	}
}

// open opens the pages of a row group.
func (c *Cursor) open(group int) error {
	if err := c.Close(); err != nil {
		return err
	}
	if codec := c.file.Metadata().RowGroups[group].Columns[c.column.Index()].MetaData.Codec; codec != format.Zstd {
		return fmt.Errorf("column %s is compressed by %s, not by zstd", strings.Join(c.column.Path(), "."), codec)
	}
	c.group = group
	c.pages = c.chunk(group).Pages()
	return nil
}

func (c *Cursor) chunk(group int) parquet.ColumnChunk {
	return c.file.RowGroups()[group].ColumnChunks()[c.column.Index()]
}

// SeekRow positions the cursor so that Next returns row n of the file, from 0. Earlier pages
// are skipped if the file has a page index.
func (c *Cursor) SeekRow(n int64) (err error) {
	defer damaged(&err)
	c.release()
	for group, g := range c.file.RowGroups() {
		if n >= g.NumRows() {
			n -= g.NumRows()
			continue
		}
		_, _ = c.chunk(group).OffsetIndex() // loads it; without one the pages are read from the first on
		if err := c.open(group); err != nil {
			return err
		}
		return c.pages.SeekToRow(n)
	}
	return io.EOF
}

// release releases the page.
func (c *Cursor) release() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.level, c.count, c.reps, c.defs, c.data, c.index = nil, 0, 0, nil, nil, encoding.Values{}, nil
}

// Close releases buffered pages. The cursor can be used again after SeekRow.
func (c *Cursor) Close() error {
	c.release()
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages = nil
	return err
}
