package reposearcher

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// excerpt is a text of lines that is shortened to about limit bytes: it keeps its first and its last lines,
// and says how many are between them. What is written to it takes at most three times the limit and the
// last part written, whatever its length: definitions of one name may all be on one long line.
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
	half := e.limit / 2
	head := text[:strings.LastIndexByte(text[:half], '\n')+1]
	tail := text[len(text)-half:]
	tail = tail[strings.IndexByte(tail, '\n')+1:]
	if head == "" {
		head = strings.ToValidUTF8(text[:half], "") + "\n"
	}
	middle := text[len(head) : len(text)-len(tail)]
	lines, size := e.lines+strings.Count(middle, "\n"), e.bytes+len(middle)
	return head + fmt.Sprintf("[%d lines with %d bytes are left out here]\n", lines, size) + tail
}

// cutMiddle shortens a text of lines as an excerpt does.
func cutMiddle(text string, limit int) string {
	e := excerpt{limit: limit}
	_, _ = e.Write([]byte(text))
	return e.String()
}
