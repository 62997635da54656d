package gitdiff

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Line is one line of a text with diffs.
type Line struct {
	Op   byte
	Text string // without its end; lines of a hunk also without their sign
}

// The values of Line.Op.
const (
	Other     = byte(0) // outside of a diff
	Header    = byte('h')
	HunkHead  = byte('@')
	Context   = byte(' ')
	Removed   = byte('-')
	Added     = byte('+')
	NoNewline = byte('\\') // the line before has no end
)

var headers = []string{"diff ", "index ", "--- ", "+++ ", "old mode ", "new mode ", "new file mode ", "deleted file mode ",
	"similarity ", "dissimilarity ", "rename ", "copy ", "Binary files ", "GIT binary patch"}

// hunkHead captures the first line and the number of lines before, the same after, and the
// heading.
var hunkHead = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*?)\r?$`)

// Lines classifies the lines of any text. The counts of the hunks decide, not the first character
// alone: a removed "-- x" is not a file name.
func Lines(text string) []Line {
	if text == "" {
		return nil
	}
	var lines []Line
	before, after := 0, 0 // lines of the current hunk still to come
	for s := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		l := Line{Other, s}
		inHunk := before > 0 || after > 0
		switch {
		case inHunk && (s == "" || s == "\r"): // context that lost its space
			l.Op = Context
		case inHunk && strings.IndexByte(" -+", s[0]) >= 0:
			l = Line{s[0], s[1:]}
		case inHunk && s[0] == '\\' || strings.HasPrefix(s, `\ No newline`):
			l.Op = NoNewline
		case strings.HasPrefix(s, "@@"):
			l.Op = HunkHead
			if m := hunkHead.FindStringSubmatch(s); m != nil {
				before, after = lineCount(m[2]), lineCount(m[4])
			}
		default:
			before, after = 0, 0
			if slices.ContainsFunc(headers, func(begin string) bool { return strings.HasPrefix(s, begin) }) {
				l.Op = Header
			}
		}
		if l.Op == Context || l.Op == Removed {
			before--
		}
		if l.Op == Context || l.Op == Added {
			after--
		}
		lines = append(lines, l)
	}
	return lines
}

// lineCount reads a hunk's number of lines; an absent one is 1.
func lineCount(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}
