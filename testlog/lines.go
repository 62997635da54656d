package testlog

import (
	"bytes"
	"iter"
	"regexp"
	"strings"

	"relabel"
)

// Bounds on what is read of a log. Code under test can write to the log.
const (
	maxLine       = 64 << 10 // bytes of a line; the rest is ignored
	maxOutcomes   = 500_000  // tests; later ones count as absent
	maxImportPath = 256      // bytes of the path of a Go package
)

// colours are the escape sequences of terminals.
var colours = regexp.MustCompile(`\x1b(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])`)

// logLines yields the lines of a log without colours.
func logLines(log []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range rawLines(log) {
			if strings.IndexByte(line, '\x1b') >= 0 {
				line = colours.ReplaceAllString(line, "")
			}
			if !yield(line) {
				return
			}
		}
	}
}

// rawLines yields the lines of a log. A carriage return ends a line too. It holds one line at a
// time, because a log can have as many lines as bytes.
func rawLines(log []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(log) > 0 {
			line, rest := log, []byte(nil)
			if at := bytes.IndexAny(log, "\r\n"); at >= 0 {
				line, rest = log[:at], log[at+1:]
				if log[at] == '\r' && len(rest) > 0 && rest[0] == '\n' {
					rest = rest[1:]
				}
			}
			if !yield(string(line[:min(len(line), maxLine)])) {
				return
			}
			log = rest
		}
	}
}

// plainText is a log without colours, its lines ended by line feeds.
func plainText(log []byte) string { return colours.ReplaceAllString(rawText(log), "") }

// rawText is a log with its lines ended by line feeds.
func rawText(log []byte) string { return lineEnds.Replace(string(log)) }

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// markedLines reads a log with a test on each line: pattern matches the line without the white
// space around it. Its first group is a mark, the key of a status, and its second the test.
func markedLines(log []byte, pattern *regexp.Regexp, marks map[string]relabel.TestStatus) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := pattern.FindStringSubmatch(trim(line)); m != nil {
			o.add(m[2], marks[m[1]])
		}
	}
	return o
}
