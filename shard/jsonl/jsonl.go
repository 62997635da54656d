// Package jsonl writes and reads files with one JSON object per line.
package jsonl

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"relabel/shard/outfile"
)

// NewWriter returns a Writer of lines, each a JSON object without its line break, to root/<view>/NNNNN.jsonl.
func NewWriter(root, view string, first, step int) *outfile.Writer[[]byte] {
	return outfile.NewWriter(root, view, ".jsonl", first, step, func(out *outfile.Output) (outfile.Encoder[[]byte], error) { return lines{out}, nil })
}

// lines is the encoder of a file.
type lines struct{ to *outfile.Output }

// Fits implements outfile.Encoder.
func (l lines) Fits(size int64) (bool, error) { return l.to.Bytes()+size+1 <= outfile.MaxFile, nil }

// Write implements outfile.Encoder.
func (l lines) Write(line []byte, _ int64) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("a line of JSON contains a line break")
	}
	_, err := l.to.Write(line)
	if err == nil {
		_, err = l.to.Write([]byte{'\n'})
	}
	return err
}

// Close implements outfile.Encoder.
func (lines) Close() error { return nil }

// Reader reads lines. Its memory is that of the longest line.
type Reader struct{ from *bufio.Reader }

// NewReader returns a Reader.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, 1<<20)} }

// Next returns the next line without its line break, valid until the next call; io.EOF after the last. It fails at a
// line of more than outfile.MaxRow bytes, and at a last line without a line break, which may be cut.
func (r *Reader) Next() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.from.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > outfile.MaxRow+1:
			return nil, fmt.Errorf("a line has more than %d bytes", int64(outfile.MaxRow))
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil, io.EOF
		case errors.Is(err, io.EOF):
			return nil, errors.New("the last line has no line break: the file is cut")
		default:
			return nil, err
		}
	}
}
