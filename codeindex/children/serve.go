package children

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"relabel/codeindex"
)

// Serve is a child that is written in Go: it answers the requests with what parse returns, until they
// end. A source that takes longer than limit ends the process: relabel ends a slow child before, unless
// relabel itself was killed.
func Serve(in io.Reader, out io.Writer, limit time.Duration, parse func(language byte, source []byte) codeindex.Records) error {
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
		slow := time.AfterFunc(limit, func() { os.Exit(1) })
		outcome, records := encode(parse(header[0], source))
		slow.Stop()
		answer := binary.LittleEndian.AppendUint32([]byte{outcome}, uint32(len(records)))
		if _, err := out.Write(append(answer, records...)); err != nil {
			return err
		}
	}
}
