package children

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"relabel/codeindex"
)

// Serve is a child that is written in Go: it answers the requests with what parse returns, until they
// end.
func Serve(in io.Reader, out io.Writer, parse func(language byte, source []byte) codeindex.Records) error {
	requests := bufio.NewReader(in)
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(requests, header); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		size := binary.LittleEndian.Uint32(header[1:])
		if size > MaxBytes {
			return fmt.Errorf("a source of %d bytes", size)
		}
		source := make([]byte, size)
		if _, err := io.ReadFull(requests, source); err != nil {
			return err
		}
		outcome, records := encode(parse(header[0], source))
		answer := binary.LittleEndian.AppendUint32([]byte{outcome}, uint32(len(records)))
		if _, err := out.Write(append(answer, records...)); err != nil {
			return err
		}
	}
}
