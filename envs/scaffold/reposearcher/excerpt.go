package reposearcher

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// noteBytes is the room for the line that counts the omitted text.
const noteBytes = 64

// excerpt is a text of lines that is shortened to limit bytes (at least twice noteBytes): it keeps its first and its last lines,
// and says how many are between them. What is written to it takes at most three times the limit and the
// last part written, which may be long: definitions of one name may all be on one long line.
type excerpt struct {
	limit        int
	text         []byte
	lines, bytes int // dropped at limit from the beginning
}

// Write never fails.
func (e *excerpt) Write(p []byte) (int, error) {
	e.text = append(e.text, p...)
	if len(e.text) > 3*e.limit {
		end := len(e.text) - e.limit
		e.lines += bytes.Count(e.text[e.limit:end], []byte("\n"))
		e.bytes += end - e.limit
		e.text = slices.Delete(e.text, e.limit, end)
	}
	return len(p), nil
}

// String is the text, shortened.
func (e *excerpt) String() string {
	text := string(e.text)
	if e.bytes == 0 && len(text) <= e.limit {
		return text
	}
	half := max(e.limit-noteBytes, e.limit/2) / 2
	head := headOf(text[:half])
	tail := tailOf(text[len(text)-half:])
	middle := text[len(head) : len(text)-len(tail)]
	lines, size := e.lines+strings.Count(middle, "\n"), e.bytes+len(middle)
	if !strings.HasSuffix(head, "\n") {
		head = strings.ToValidUTF8(head, "") + "\n"
	}
	return head + note(lines, size) + strings.ToValidUTF8(tail, "")
}

// note counts the omitted text.
func note(lines, size int) string {
	if lines == 0 {
		return fmt.Sprintf("[%d bytes are left out here]\n", size)
	}
	return fmt.Sprintf("[%d lines with %d bytes are left out here]\n", lines, size)
}

// headOf is a text up to its last end of a line, or all of it if that were less than half: it has a very
// long line.
func headOf(text string) string {
	if end := strings.LastIndexByte(text, '\n') + 1; end > len(text)/2 {
		return text[:end]
	}
	return text
}

// tailOf is a text after its first end of a line, or all of it likewise.
func tailOf(text string) string {
	if start := strings.IndexByte(text, '\n') + 1; start > 0 && start < len(text)/2 {
		return text[start:]
	}
	return text
}

// cutMiddle shortens a text of lines as an excerpt does.
func cutMiddle(text string, limit int) string {
	e := excerpt{limit: limit}
	_, _ = e.Write([]byte(text))
	return e.String()
}
