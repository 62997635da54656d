package jinja

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fault is an internal error. The first node with a position on its way up sets its position.
type fault struct {
	pos    int // byte offset in the source, -1 if unknown so far
	text   string
	raised bool // by raise_exception: its text must not change
}

func (f *fault) Error() string { return f.text }

// faultf makes a fault without a position.
func faultf(format string, args ...any) error {
	return &fault{pos: -1, text: fmt.Sprintf(format, args...)}
}

// faultAt makes a fault with a position.
func faultAt(pos int, format string, args ...any) error {
	return &fault{pos: pos, text: fmt.Sprintf(format, args...)}
}

// at sets the position of an error that has none.
func at(pos int, err error) error {
	if f, ok := err.(*fault); ok && f.pos < 0 {
		f.pos = pos
	}
	return err
}

// position returns line and column of a byte offset, from 1.
func position(source string, pos int) (line, column int) {
	if pos < 0 {
		return 1, 1
	}
	pos = min(pos, len(source))
	before := source[:pos]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

func place(name string, line, column int) string {
	return fmt.Sprintf("%s:%d:%d", name, line, column)
}
