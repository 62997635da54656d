package tasks

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// readArray passes each item of a JSON array to yield, which returns false to end it. An item's fields are valid
// until the next.
func readArray(r io.Reader, file string, yield func(*taskLine) bool) error {
	items := arrayReader{in: bufio.NewReaderSize(r, 1<<16)}
	if c, err := items.skipSpace(); err != nil || c != '[' {
		return errors.New("is not a JSON array")
	}
	for number := 1; ; number++ {
		place := Place{file, "row", number}
		more, err := items.next(number > 1)
		if err != nil {
			return fmt.Errorf("is damaged in %s: %w", place.inFile(), err)
		}
		if !more || !yield(readTaskLine(place, bytes.TrimSpace(items.item), items.long)) {
			return nil
		}
	}
}

// arrayReader cuts a JSON array into its items without holding more than one. It checks only the nesting; who
// parses an item checks the rest.
type arrayReader struct {
	in   *bufio.Reader
	item []byte
	long bool // the item is over MaxLine, and nothing of it is kept
}

// next reads the next item. more is false after the last.
func (a *arrayReader) next(comma bool) (more bool, err error) {
	c, err := a.skipSpace()
	if err == nil && c == ']' {
		return false, a.end()
	}
	if err == nil && comma {
		if c != ',' {
			return false, fmt.Errorf("%q follows an item", c)
		}
		c, err = a.skipSpace()
	}
	if err != nil {
		return false, err
	}
	if c == ',' || c == ']' {
		return false, errors.New("an item is missing")
	}
	return true, a.value(c)
}

// end checks that nothing follows the array.
func (a *arrayReader) end() error {
	c, err := a.skipSpace()
	if err == nil {
		return fmt.Errorf("%q follows the array", c)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// value reads a value that begins with c, up to the comma or bracket that follows it.
func (a *arrayReader) value(c byte) error {
	a.item, a.long = a.item[:0], false
	depth, quoted := 0, false
	for {
		if a.long = a.long || len(a.item) >= MaxLine; a.long {
			a.item = a.item[:0]
		} else {
			a.item = append(a.item, c)
		}
		switch {
		case quoted && c == '\\':
			if err := a.escaped(); err != nil {
				return err
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		next, err := a.in.ReadByte()
		if err != nil {
			return unexpected(err)
		}
		if !quoted && depth == 0 && (next == ',' || next == ']') {
			return a.in.UnreadByte()
		}
		c = next
	}
}

// escaped reads the byte after a backslash.
func (a *arrayReader) escaped() error {
	c, err := a.in.ReadByte()
	if err == nil && !a.long {
		a.item = append(a.item, c)
	}
	return unexpected(err)
}

// skipSpace returns the first byte that is not white space, or part of a byte order mark.
func (a *arrayReader) skipSpace() (byte, error) {
	for {
		c, err := a.in.ReadByte()
		if err != nil {
			return 0, unexpected(err)
		}
		switch c {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
		default:
			return c, nil
		}
	}
}

// unexpected makes an end of the file an error, which it is within an array.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
