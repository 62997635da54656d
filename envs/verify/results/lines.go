package results

import (
	"bytes"
	"iter"
	"strings"
)

// Bounds on what is read of a log, which code under test writes too.
const (
	maxLine     = 64 << 10 // the bytes of a line; a longer one is cut
	maxOutcomes = 500_000  // how many names of tests are noted; later ones are absent
)

// logLines yields the lines of a log without colours and carriage returns. It holds one line at
// a time: a log of line ends alone has as many lines as bytes.
func logLines(log []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.SplitSeq(log, []byte("\n")) {
			line = line[:min(len(line), maxLine)]
			if bytes.IndexByte(line, '\x1b') >= 0 {
				line = ansi.ReplaceAll(line, nil)
			}
			if !yield(strings.TrimRight(string(line), "\r")) {
				return
			}
		}
	}
}
