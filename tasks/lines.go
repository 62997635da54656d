package tasks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest row of a task file, in bytes.
const MaxLine = 32 << 20

// readLines passes each line that is not blank to yield, which returns false to end it. A byte order mark is
// skipped. A line's fields are valid until the next.
func readLines(r io.Reader, file string, yield func(*taskLine) bool) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	for number := 1; ; number++ {
		var long bool
		var err error
		line, long, err = readLine(in, MaxLine, line[:0])
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("cannot be read in line %d: %w", number, err)
		}
		text := line
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		text = bytes.TrimSpace(text)
		if (long || len(text) > 0) && !yield(readTaskLine(Place{file, "line", number}, text, long)) {
			return nil
		}
		if err != nil {
			return nil
		}
	}
}

// readLine appends a line with its newline to line. It reads a line over limit completely, keeps nothing of it, and
// reports long.
func readLine(in *bufio.Reader, limit int, line []byte) (read []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > limit; long {
			line = line[:0]
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// readTaskLine reads the fields of one row, or describes why it cannot.
func readTaskLine(place Place, text []byte, long bool) *taskLine {
	line := newTaskLine(place, nil)
	line.raw = text
	if long {
		line.refuse("", "is longer than %d MiB", MaxLine>>20)
		return line
	}
	fields, wrong := parseObject(text)
	if wrong != "" {
		line.refuse("", "%s", wrong)
		return line
	}
	line.fields = fields
	return line
}
