package arrow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"relabel/shard/outfile"
)

// Limits of a message of rows, in bytes.
const (
	mostMetadata = 1 << 20
	mostBody     = 64 << 20
)

// continuation is how every message begins.
const continuation = 0xffffffff

// Reader reads the rows of one file in order. Its memory is that of one batch. It believes no length in the file.
type Reader struct {
	from     io.Reader
	metadata []byte
	body     bytes.Buffer
	columns  [len(names)]column // of the batch
	rows     int                // of the batch
	next     int
	row      Row
}

// NewReader starts reading a stream. It fails if the columns are not those of Row.
func NewReader(r io.Reader) (*Reader, error) {
	begins := make([]byte, len(opening))
	n, err := io.ReadFull(r, begins)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if !bytes.Equal(begins[:n], opening) {
		return nil, fmt.Errorf("is not an Arrow stream: does not begin with the schema that relabel writes: lists named %v", names)
	}
	return &Reader{from: r}, nil
}

// Next returns the next row, valid until the next call; io.EOF after the last.
func (r *Reader) Next() (Row, error) {
	for r.next == r.rows {
		if err := r.readBatch(); err != nil {
			return Row{}, err
		}
	}
	var lists [len(names)][]byte
	for i, c := range r.columns {
		var err error
		if lists[i], err = c.list(r.next, i); err != nil {
			return Row{}, err
		}
	}
	r.next++
	r.row.InputIDs = read32(r.row.InputIDs, lists[0])
	r.row.AttentionMask = read8(r.row.AttentionMask, lists[1])
	r.row.Labels = read32(r.row.Labels, lists[2])
	return r.row, nil
}

// list returns the bytes of a list of a column, whose number it has too.
func (c column) list(row, number int) ([]byte, error) {
	from := int(int32(binary.LittleEndian.Uint32(c.offsets[4*row:])))
	to := int(int32(binary.LittleEndian.Uint32(c.offsets[4*row+4:])))
	width := widths[number]
	switch {
	case from < 0 || from > to || to > len(c.values)/width:
		return nil, fmt.Errorf("is not a valid Arrow stream: a list of %s lies outside of its values", names[number])
	case to-from > outfile.MaxRow:
		return nil, fmt.Errorf("%s has %d values", names[number], to-from)
	}
	return c.values[from*width : to*width], nil
}

func read32(dst []int32, raw []byte) []int32 {
	dst = slices.Grow(dst[:0], len(raw)/4)
	for ; len(raw) > 0; raw = raw[4:] {
		dst = append(dst, int32(binary.LittleEndian.Uint32(raw)))
	}
	return dst
}

func read8(dst []int8, raw []byte) []int8 {
	dst = slices.Grow(dst[:0], len(raw))
	for _, v := range raw {
		dst = append(dst, int8(v))
	}
	return dst
}

// readBatch reads the next batch; io.EOF after the last.
func (r *Reader) readBatch() error {
	if err := r.readMetadata(); err != nil {
		return err
	}
	b, err := parse(r.metadata)
	if err != nil {
		return err
	}
	r.body.Reset()
	if _, err := io.CopyN(&r.body, r.from, b.body); err != nil { // grows by what there is
		return cut(err)
	}
	r.next, r.rows = 0, int(b.rows)
	for i := range r.columns {
		if r.columns[i], err = b.column(i, r.body.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// readMetadata reads the metadata of the next message; io.EOF at the end.
func (r *Reader) readMetadata() error {
	var head [8]byte
	if n, err := io.ReadFull(r.from, head[:]); n == 0 && err != nil {
		return err
	} else if err != nil {
		return cut(err)
	}
	size := binary.LittleEndian.Uint32(head[4:])
	switch {
	case binary.LittleEndian.Uint32(head[:]) != continuation:
		return errors.New("has no message where one begins")
	case size == 0:
		return io.EOF
	case size > mostMetadata:
		return fmt.Errorf("has a message with %d bytes of metadata", size)
	}
	r.metadata = slices.Grow(r.metadata[:0], int(size))[:size]
	_, err := io.ReadFull(r.from, r.metadata)
	return cut(err)
}

// cut says what the end of a stream within a message means. Other errors stay as they are.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is not a valid Arrow stream: it ends within a message")
	}
	return err
}
