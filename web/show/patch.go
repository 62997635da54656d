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
func ComparePatches(a, b []Line) { compareLines(changes(a), changes(b)) }

func changes(lines []Line) (all []*Line) {
	for i, l := range lines {
		if l.Op == '+' || l.Op == '-' {
			all = append(all, &lines[i])
		}
	}
	return all
}
