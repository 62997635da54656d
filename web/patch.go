package web

import (
	"html/template"
	"regexp"
	"strconv"
	"strings"
)

// hunkHead is the line that begins a hunk, with how many lines it has before and after.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// patchLines tells the lines of a patch apart. A line is what its place says, not what it
// begins with: a deleted "-- x" is no file's name. What is no patch has Op 0.
func patchLines(patch string) (lines []textLine) {
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
				oldLeft, newLeft = number(m[1], 1), number(m[2], 1)
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

// number reads a number, or takes another where there is none.
func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}

// patchView is a patch, whole.
type patchView struct {
	Count int // lines
	HTML  template.HTML
}

func viewPatch(patch string) patchView {
	lines := patchLines(patch)
	return patchView{len(lines), limits{}.diff(lines)}
}

// looksLikePatch reports whether a text is what `git diff` writes.
func looksLikePatch(s string) bool {
	return (strings.HasPrefix(s, "diff --git ") || strings.Contains(s, "\ndiff --git ")) && strings.Contains(s, "\n@@ -")
}

// comparePatches marks in each patch the changes that the other has not.
func comparePatches(a, b []textLine) {
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

// changes are the places of the lines that a patch puts in and takes out.
func changes(lines []textLine) (at []int) {
	for i, l := range lines {
		if l.Op == '+' || l.Op == '-' {
			at = append(at, i)
		}
	}
	return at
}

func pick(lines []textLine, at []int) []textLine {
	picked := make([]textLine, len(at))
	for i, k := range at {
		picked[i] = lines[k]
	}
	return picked
}
