package jinja

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fault is an error on its way up, which learns its place at the first node that has one.
type fault struct {
	pos    int // byte offset in the source, -1 if it is not known yet
	text   string
	raised bool // by raise_exception: nothing may be added to its text
}

func (f *fault) Error() string { return f.text }

// faultf makes a fault without a place.
func faultf(format string, args ...any) error {
	return &fault{pos: -1, text: fmt.Sprintf(format, args...)}
}

// faultAt makes a fault with a place.
func faultAt(pos int, format string, args ...any) error {
	return &fault{pos: pos, text: fmt.Sprintf(format, args...)}
}

// at gives an error the place of a node, if it has none.
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
