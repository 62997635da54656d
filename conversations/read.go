package conversations

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"relabel"
)

// MaxLine is the maximum length of a line, in bytes: a row of an export must hold its messages.
const MaxLine = 12 << 20

// Read yields the conversations of a JSONL file in order. Empty lines are passed over. The last pair has the
// error, if any: CodeInvalid, naming line and field.
func Read(from io.Reader) iter.Seq2[relabel.Conversation, error] {
	return func(yield func(relabel.Conversation, error) bool) {
		lines := bufio.NewReaderSize(from, 64<<10)
		for number := 1; ; number++ {
			line, err := readLine(lines)
			if errors.Is(err, io.EOF) {
				return
			}
			var c relabel.Conversation
			if err == nil && len(line) > 0 {
				c, err = parse(line)
			}
			if err != nil {
				yield(c, atLine(number, err))
				return
			}
			if c.Number = number; len(line) > 0 && !yield(c, nil) {
				return
			}
		}
	}
}

// readLine returns the next line without white space around it; io.EOF after the last.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		more, err := from.ReadSlice('\n')
		if len(line)+len(more) > MaxLine {
			return nil, relabel.Errorf(relabel.CodeInvalid, "is longer than %d MiB", MaxLine>>20)
		}
		line = append(line, more...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(line) > 0:
			line = bytes.TrimSpace(line)
			if !utf8.Valid(line) {
				return nil, relabel.Errorf(relabel.CodeInvalid, "is not UTF-8")
			}
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// atLine names the line of an error.
func atLine(number int, err error) error {
	var e *relabel.Error
	if !errors.As(err, &e) {
		return err
	}
	at := fmt.Sprintf("line %d", number)
	if e.Field != "" {
		at += ": " + e.Field
	}
	return relabel.Errorf(e.Code, "%s", e.Message).On(at)
}
