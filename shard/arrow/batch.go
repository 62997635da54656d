package arrow

import (
	"errors"
	"fmt"
)

// Numbers of fields in Arrow's definitions of Message and RecordBatch.
const (
	fieldKind    = 1 // of Message: what the header is
	fieldHeader  = 2 // of Message
	fieldBody    = 3 // of Message: the length of the body
	fieldCustom  = 4 // of Message: metadata of the writer's own
	fieldRows    = 0 // of RecordBatch
	fieldNodes   = 1 // of RecordBatch
	fieldBuffers = 2 // of RecordBatch
	fieldCodec   = 3 // of RecordBatch: the compression of the buffers
)

// isBatch is the kind of a header that is a RecordBatch.
const isBatch = 3

// batch is what the metadata of a message says of a batch of rows.
type batch struct {
	body, rows int64
	nodes      [batchNodes]node
	buffers    [batchBuffers]buffer
}

// parse reads the metadata of a message. It refuses what is not a batch of rows as a Writer writes it.
func parse(metadata []byte) (b batch, err error) {
	f := flat{bytes: metadata}
	message := f.follow(0)
	b.body = f.integer(message, fieldBody)
	kind, hasKind := f.field(message, fieldKind)
	header, hasHeader := f.field(message, fieldHeader)
	_, hasCustom := f.field(message, fieldCustom)
	switch {
	case f.err != nil:
		return b, f.err
	case !hasKind || !hasHeader || f.at(kind, 1)[0] != isBatch:
		return b, errors.New("has a message that is not a batch of rows")
	case hasCustom:
		return b, errors.New("has a batch with metadata of its own")
	case b.body < 0 || b.body > mostBody:
		return b, fmt.Errorf("has a batch of %d bytes, more than %d", b.body, mostBody)
	}
	table := f.follow(header)
	if _, compressed := f.field(table, fieldCodec); compressed {
		return b, errors.New("has compressed batches, which relabel does not write")
	}
	b.rows = f.integer(table, fieldRows)
	f.vector(table, fieldNodes, batchNodes, b.nodes[:])
	f.vector(table, fieldBuffers, batchBuffers, b.buffers[:])
	return b, f.err
}

// column returns the buffers of a column out of the body. Their lengths fit the number of rows.
func (b batch) column(i int, body []byte) (c column, err error) {
	lists, values := b.nodes[2*i], b.nodes[2*i+1]
	if lists.Nulls != 0 || values.Nulls != 0 {
		return c, fmt.Errorf("%s contains a null", names[i])
	}
	if c.offsets, err = b.buffers[4*i+1].in(body); err != nil {
		return c, err
	}
	if c.values, err = b.buffers[4*i+3].in(body); err != nil {
		return c, err
	}
	width := int64(widths[i])
	if lists.Length != b.rows || b.rows < 0 || b.rows >= max(1, int64(len(c.offsets)/4)) || values.Length < 0 || values.Length > int64(len(c.values))/width {
		return c, fmt.Errorf("is not a valid Arrow stream: the lengths of %s do not agree", names[i])
	}
	c.values = c.values[:values.Length*width]
	return c, nil
}

// in returns the bytes of a buffer of a body.
func (b buffer) in(body []byte) ([]byte, error) {
	if b.Offset < 0 || b.Length < 0 || b.Offset > int64(len(body)) || b.Length > int64(len(body))-b.Offset {
		return nil, errDamaged
	}
	return body[b.Offset : b.Offset+b.Length], nil
}
