package parquet

import (
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Reader reads a Parquet file of any origin, column by column through Cursors. It is safe for
// concurrent use; a Cursor is not.
type Reader struct {
	file *parquet.File
}

// Field is a column with its type as pyarrow names it: string, list<int32>,
// list<struct<a: string>>.
type Field struct{ Name, Type string }

// OpenReader opens a file of the given size in bytes. It reads only the footer.
func OpenReader(r io.ReaderAt, size int64) (reader *Reader, err error) {
	defer damaged(&err)
	f, err := parquet.OpenFile(r, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, fmt.Errorf("not readable as Parquet: %w", err)
	}
	return &Reader{f}, nil
}

// damaged turns a panic into an error: damaged files can make the library panic anywhere.
func damaged(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("not readable as Parquet: %v", p)
	}
}

// Rows returns the number of rows according to the footer.
func (r *Reader) Rows() int64 { return r.file.NumRows() }

// Metadata returns an entry of the file's key-value metadata.
func (r *Reader) Metadata(key string) (string, bool) { return r.file.Lookup(key) }

// Fields lists the columns in file order.
func (r *Reader) Fields() []Field {
	var fields []Field
	for _, c := range r.file.Root().Columns() {
		fields = append(fields, Field{c.Name(), typeName(c)})
	}
	return fields
}

// Limits returns the first of the format's byte limits that the file violates, "" if none:
// zstd, row groups of at most 16 MiB.
func (r *Reader) Limits() string {
	for i, group := range r.file.Metadata().RowGroups {
		size := int64(0)
		for _, c := range group.Columns {
			size += c.MetaData.TotalCompressedSize
			if c.MetaData.Codec != format.Zstd {
				return fmt.Sprintf("column %s is compressed by %s, not by zstd", strings.Join(c.MetaData.PathInSchema, "."), c.MetaData.Codec)
			}
		}
		if size > MaxGroup {
			return fmt.Sprintf("row group %d has %d bytes, compressed, more than %d", i, size, MaxGroup)
		}
	}
	return ""
}

// typeName returns the type of a column.
func typeName(c *parquet.Column) string {
	switch children := c.Columns(); {
	case c.Repeated():
		return "repeated " + c.Name()
	case c.Leaf():
		return leafName(c.Type())
	case len(children) == 1 && children[0].Repeated() && len(children[0].Columns()) == 1: // the three levels of a list
		return "list<" + typeName(children[0].Columns()[0]) + ">"
	default:
		var parts []string
		for _, child := range children {
			parts = append(parts, child.Name()+": "+typeName(child))
		}
		return "struct<" + strings.Join(parts, ", ") + ">"
	}
}

// leafName returns the type of a leaf column.
func leafName(t parquet.Type) string {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch l := logical.(type) {
	case *format.StringType:
		return "string"
	case *format.JsonType:
		return "json"
	case *format.IntType:
		if l.IsSigned && l.BitWidth <= 32 && t.Kind() == parquet.Int32 {
			return fmt.Sprintf("int%d", l.BitWidth)
		}
	case nil:
		switch t.Kind() {
		case parquet.Float:
			return "float32"
		case parquet.Int32:
			return "int32"
		}
	}
	return t.String()
}
