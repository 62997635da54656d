package arrow

import (
	"encoding/binary"

	"relabel/shard/outfile"
)

// NewWriter returns a Writer of rows to root/<view>/NNNNN.arrow.
func NewWriter(root, view string, first, step int) *outfile.Writer[Row] {
	return outfile.NewWriter(root, view, ".arrow", first, step, begin)
}

// The rows and bytes of a batch, which a writer and a reader hold in memory.
const (
	batchRows  = 1000
	batchBytes = 8 << 20
)

// encoder writes one file.
type encoder struct {
	out     *outfile.Output
	columns [len(names)]column // of the rows since the last batch
	rows    int
	bytes   int64
}

// column is a column of a batch as its buffers.
type column struct {
	offsets []byte // where each list begins among the values, and where the last one ends
	values  []byte
}

func begin(out *outfile.Output) (outfile.Encoder[Row], error) {
	_, err := out.Write(opening)
	return &encoder{out: out}, err
}

// Fits implements outfile.Encoder. Of a batch it counts offsets, metadata and alignment too.
func (e *encoder) Fits(size int64) (bool, error) {
	return e.out.Bytes()+e.bytes+int64(12*e.rows)+4<<10+size <= outfile.MaxFile, nil
}

// Write implements outfile.Encoder.
func (e *encoder) Write(r Row, _ int64) error {
	if e.rows == 0 {
		for i := range e.columns {
			e.columns[i].begin()
		}
	}
	e.columns[0].add32(r.InputIDs)
	e.columns[1].add8(r.AttentionMask)
	e.columns[2].add32(r.Labels)
	e.rows++
	e.bytes += int64(9 * len(r.InputIDs))
	if e.rows < batchRows && e.bytes < batchBytes {
		return nil
	}
	return e.flush()
}

// begin empties the column.
func (c *column) begin() {
	c.offsets, c.values = append(c.offsets[:0], 0, 0, 0, 0), c.values[:0]
}

// add32 adds a list of values of 4 bytes.
func (c *column) add32(list []int32) {
	for _, v := range list {
		c.values = binary.LittleEndian.AppendUint32(c.values, uint32(v))
	}
	c.offsets = binary.LittleEndian.AppendUint32(c.offsets, uint32(len(c.values)/4))
}

// add8 adds a list of values of one byte.
func (c *column) add8(list []int8) {
	for _, v := range list {
		c.values = append(c.values, byte(v))
	}
	c.offsets = binary.LittleEndian.AppendUint32(c.offsets, uint32(len(c.values)))
}

// flush writes the rows since the last batch.
func (e *encoder) flush() error {
	if e.rows == 0 {
		return nil
	}
	head, _ := binary.Append(nil, binary.LittleEndian, e.message()) // all fields have a fixed size
	if err := e.write(head); err != nil {
		return err
	}
	for _, c := range e.columns {
		if err := e.write(c.offsets); err != nil {
			return err
		}
		if err := e.write(c.values); err != nil {
			return err
		}
	}
	e.rows, e.bytes = 0, 0
	return nil
}

// write writes bytes, and zeros to a multiple of 8.
func (e *encoder) write(b []byte) error {
	if _, err := e.out.Write(b); err != nil {
		return err
	}
	_, err := e.out.Write(make([]byte, aligned(len(b))-len(b)))
	return err
}

// aligned is the next multiple of 8.
func aligned(n int) int { return (n + 7) &^ 7 }

// Close implements outfile.Encoder.
func (e *encoder) Close() error {
	if err := e.flush(); err != nil {
		return err
	}
	return e.write(ending)
}
