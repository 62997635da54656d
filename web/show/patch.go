package show

import (
	"html/template"
	"strings"

	"relabel/gitdiff"
)

// PatchLines classifies the lines of a patch, or of any text with patches. Lines outside a patch
// have Op 0.
func PatchLines(patch string) (lines []Line) {
	for _, l := range gitdiff.Lines(patch) {
		if l.Op == gitdiff.NoNewline {
			l.Op = gitdiff.Header
		}
		lines = append(lines, lineOf(l.Op, l.Text))
	}
	return lines
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
