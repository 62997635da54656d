package show

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// hunkHead is the header of a hunk, with its numbers of lines before and after.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// PatchLines splits a patch into classified lines. The position decides, not the first character:
// a deleted "-- x" is not a file name. Lines outside a patch have Op 0.
func PatchLines(patch string) (lines []Line) {
	var oldLeft, newLeft int
	for _, text := range bareLines(patch) {
		l := lineOf(0, text)
		switch {
		case (oldLeft > 0 || newLeft > 0) && (text == "" || strings.IndexByte(`+- \`, text[0]) >= 0):
			if text == "" {
				text = " "
			}
			l = lineOf(text[0], text[1:])
			if text[0] != '+' && text[0] != '\\' {
				oldLeft--
			}
			if text[0] != '-' && text[0] != '\\' {
				newLeft--
			}
			if text[0] == '\\' {
				l = lineOf('h', text)
			}
		case strings.HasPrefix(text, "@@"):
			l.Op = '@'
			if m := hunkHead.FindStringSubmatch(text); m != nil {
				oldLeft, newLeft = lineCount(m[1]), lineCount(m[2])
			}
		case isFileLine(text):
			l.Op, oldLeft, newLeft = 'h', 0, 0
		default:
			oldLeft, newLeft = 0, 0
		}
		lines = append(lines, l)
	}
	return lines
}

func isFileLine(text string) bool {
	for _, begin := range []string{"diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "rename ", "similarity ", "old mode", "new mode", "Binary files", `\ No newline`} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// lineCount reads a hunk's number of lines; an absent one is 1.
func lineCount(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return 1
}

// Patch is a rendered patch.
type Patch struct {
	Count int // lines
	HTML  template.HTML
}

// WholePatch renders a whole patch.
func WholePatch(patch string) Patch {
	lines := PatchLines(patch)
	return Patch{len(lines), Limits{}.Diff(lines)}
}

// IsPatch reports whether a text looks like output of git diff.
func IsPatch(s string) bool {
	return (strings.HasPrefix(s, "diff --git ") || strings.Contains(s, "\ndiff --git ")) && strings.Contains(s, "\n@@ -")
}

// ComparePatches marks the changes that the other patch lacks.
func ComparePatches(a, b []Line) {
	x, y := changes(a), changes(b)
	u, v := pick(a, x), pick(b, y)
	compareLines(u, v)
	for i, at := range x {
		a[at] = u[i]
	}
	for i, at := range y {
		b[at] = v[i]
	}
}

// changes returns the indexes of added and removed lines.
func changes(lines []Line) (at []int) {
	for i, l := range lines {
		if l.Op == '+' || l.Op == '-' {
			at = append(at, i)
		}
	}
	return at
}

func pick(lines []Line, at []int) []Line {
	picked := make([]Line, len(at))
	for i, k := range at {
		picked[i] = lines[k]
	}
	return picked
}
