package children

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"relabel/codeindex"
)

// Answers are what a child answers with.
type Answers struct {
	Records func(language byte, source []byte) codeindex.Records
	Parts   func(language byte, source []byte) codeindex.Parts // nil: none
}

// about returns the outcome and the body of the answer about a source.
func (a Answers) about(language byte, source []byte) (outcome byte, body []byte, err error) {
	if language&wantParts == 0 {
		outcome, body = encode(a.Records(language, source))
		return outcome, body, nil
	}
	parts := codeindex.Parts{Problem: codeindex.NoParser}
	if a.Parts != nil {
		parts = a.Parts(language&^wantParts, source)
	}
	if body, err = json.Marshal(parts); len(body) > maxRecords {
		body, err = json.Marshal(codeindex.Parts{Problem: codeindex.TooLarge})
	}
	return 0, body, err
}

// Serve is a child that is written in Go: it answers the requests until they end. A source that takes longer than limit ends the process: relabel ends a slow child before, unless
// relabel itself was killed.
func Serve(in io.Reader, out io.Writer, limit time.Duration, answers Answers) error {
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
		outcome, body, err := answers.about(header[0], source)
		slow.Stop()
		if err != nil {
			return err
		}
		answer := binary.LittleEndian.AppendUint32([]byte{outcome}, uint32(len(body)))
		if _, err := out.Write(append(answer, body...)); err != nil {
			return err
		}
	}
}
