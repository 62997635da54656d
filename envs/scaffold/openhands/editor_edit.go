package openhands

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"relabel"
)

// maxNamed is how many matches a refusal names.
const maxNamed = 20

// replace replaces the one occurrence of old.
func (e *Episode) replace(ctx context.Context, name, old, new string) (relabel.Observation, error) {
	switch {
	case old == "":
		return refusal("old_str is empty. Give the text to replace, or use insert to add lines."), nil
	case old == new:
		return refusal("old_str and new_str are the same, so there is nothing to change."), nil
	}
	data, no, err := e.open(ctx, name)
	if no != nil {
		return *no, err
	}
	matches := occurrences(data, []byte(old))
	switch {
	case len(matches) == 0:
		return refusal("old_str does not occur in %s.%s View the file, and give the text exactly as it stands there, white space included.", name, lineEndHint(data, old)), nil
	case len(matches) > 1:
		return refusal("old_str occurs %d times in %s, in lines %s. Give more of the lines around the one you mean, so that it is unique.", len(matches), name, lineNumbers(data, matches)), nil
	}
	at := matches[0]
	after := slices.Concat(data[:at], []byte(new), data[at+len(old):])
	return e.save(ctx, name, after, lineOf(data, at), 1+strings.Count(new, "\n"))
}

// insert puts text after line n. It adds a missing line end if lines follow. A file whose last line has
// no line end still has none after an insertion at its end.
func (e *Episode) insert(ctx context.Context, name string, n int, added string) (relabel.Observation, error) {
	data, no, err := e.open(ctx, name)
	if no != nil {
		return *no, err
	}
	lines := splitLines(data)
	if n < 0 || n > len(lines) {
		return refusal("insert_line is %d, but %s has %d lines: give a number from 0 to %d.", n, name, len(lines), len(lines)), nil
	}
	if added == "" {
		return refusal("new_str is empty, so there is nothing to insert."), nil
	}
	at := len(bytes.Join(lines[:n], nil))
	between := added
	switch unended := at > 0 && data[at-1] != '\n'; {
	case unended:
		between = lineEnd(data) + strings.TrimSuffix(added, "\n")
	case !strings.HasSuffix(added, "\n"):
		between += lineEnd(data)
	}
	after := slices.Concat(data[:at], []byte(between), data[at:])
	return e.save(ctx, name, after, n+1, strings.Count(strings.TrimSuffix(added, "\n"), "\n")+1)
}

// occurrences returns the positions of part in data, including overlapping ones, which are ambiguous
// too.
func occurrences(data, part []byte) []int {
	var at []int
	for i := 0; ; i++ {
		n := bytes.Index(data[i:], part)
		if n < 0 {
			return at
		}
		i += n
		at = append(at, i)
	}
}

// lineNumbers lists the lines of positions, each once.
func lineNumbers(data []byte, positions []int) string {
	var lines []string
	for _, p := range positions {
		line := strconv.Itoa(lineOf(data, p))
		if slices.Contains(lines, line) {
			continue
		}
		if len(lines) == maxNamed {
			return strings.Join(lines, ", ") + " and more"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

// lineOf returns the number of the line, from 1, that holds position at.
func lineOf(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// lineEnd is the line end of the file's first line.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineEndHint is a hint if old would match with other line ends.
func lineEndHint(data []byte, old string) string {
	plain := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	crlf := len(plain) != len(data) || strings.Contains(old, "\r")
	if !crlf || !bytes.Contains(plain, []byte(strings.ReplaceAll(old, "\r\n", "\n"))) {
		return ""
	}
	return fmt.Sprintf(" Its line ends differ: lines of this file end in %q.", lineEnd(data))
}

// splitLines splits text after each line end. The lines joined are the text.
func splitLines(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}
