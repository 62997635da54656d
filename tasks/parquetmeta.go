package tasks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// Bounds of the metadata of a Parquet file. The library allocates what a list claims, before it reads the items,
// and follows any nesting.
const (
	maxMetaItems     = 1 << 20   // items of all lists
	maxMetaNesting   = 32        // structs and lists in each other
	maxPageHeader    = 256 << 20 // bytes: it may have the least and the greatest value
	maxSchemaColumns = 10_000    // columns and groups of them
	maxSchemaNesting = 64        // groups in each other
)

var compact thrift.CompactProtocol

// checkMetadata refuses metadata that would take too much memory or stack.
func checkMetadata(data []byte) error {
	if err := checkThrift(bytes.NewReader(data), len(data)); err != nil {
		return fmt.Errorf("its metadata: %w", err)
	}
	var file struct {
		Schema []struct {
			Children int32 `thrift:"5,optional"`
		} `thrift:"2"`
	}
	if err := thrift.Unmarshal(&compact, data, &file); err != nil {
		return fmt.Errorf("its metadata: %w", err)
	}
	if len(file.Schema) > maxSchemaColumns {
		return fmt.Errorf("its schema has %d columns, more than %d", len(file.Schema), maxSchemaColumns)
	}
	var open []int32 // children to come of the groups around a column
	for _, column := range file.Schema {
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if column.Children < 0 || len(open) > maxSchemaNesting {
			return errors.New("its schema is nested too deeply")
		}
		open = append(open, column.Children)
	}
	return nil
}

// checkThrift reads a struct of Thrift and keeps nothing of it. It refuses one that is longer than max bytes, too
// deeply nested, or has too many items.
func checkThrift(in io.Reader, max int) error {
	buffered := bufio.NewReaderSize(io.LimitReader(in, int64(max)), 1<<10)
	w := thriftWalk{in: buffered, reader: compact.NewReader(buffered)}
	err := w.value(thrift.STRUCT, 0)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// thriftWalk reads past values.
type thriftWalk struct {
	in     *bufio.Reader
	reader thrift.Reader
	items  int64 // of all lists so far
}

// value reads a value that is nested in depth others.
func (w *thriftWalk) value(kind thrift.Type, depth int) (err error) {
	if depth > maxMetaNesting {
		return fmt.Errorf("values are nested more than %d times", maxMetaNesting)
	}
	switch kind {
	case thrift.I8:
		_, err = w.reader.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = w.reader.ReadInt64()
	case thrift.DOUBLE:
		_, err = w.in.Discard(8)
	case thrift.BINARY:
		var size int
		if size, err = w.reader.ReadLength(); err == nil {
			_, err = w.in.Discard(size)
		}
	case thrift.LIST, thrift.SET:
		var list thrift.List
		if list, err = w.reader.ReadList(); err == nil {
			err = w.several(int64(list.Size), depth, list.Type)
		}
	case thrift.MAP:
		var pairs thrift.Map
		if pairs, err = w.reader.ReadMap(); err == nil {
			err = w.several(int64(pairs.Size), depth, pairs.Key, pairs.Value)
		}
	case thrift.STRUCT:
		err = w.fields(depth)
	default:
		err = fmt.Errorf("unknown type %d", kind)
	}
	return err
}

// several reads the items of a list, or the pairs of a map.
func (w *thriftWalk) several(size int64, depth int, kinds ...thrift.Type) error {
	if w.items += size; w.items > maxMetaItems {
		return fmt.Errorf("its lists have more than %d items", maxMetaItems)
	}
	for range size {
		for _, kind := range kinds {
			if kind == thrift.TRUE || kind == thrift.FALSE {
				kind = thrift.I8 // in lists, they have a byte of their own
			}
			if err := w.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// fields reads the fields of a struct.
func (w *thriftWalk) fields(depth int) error {
	for {
		f, err := w.reader.ReadField()
		switch {
		case err != nil || f.Type == thrift.STOP:
			return err
		case f.Type == thrift.TRUE || f.Type == thrift.FALSE: // the type is the value
			continue
		}
		if err := w.value(f.Type, depth+1); err != nil {
			return err
		}
	}
}
