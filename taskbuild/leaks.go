package taskbuild

import (
	"strings"

	"relabel/gitdiff"
)

// minLeak is how many characters without spaces a line of a patch has at least to count as a leak: shorter
// ones, such as a name, can be in any description of the problem.
const minLeak = 20

// Leaks returns the lines that a patch adds and that a problem statement quotes, white space aside. Lines that
// the patch also removes, or has as context, are no leak.
func Leaks(statement, patch string) []string {
	files, _ := gitdiff.Parse(patch)
	text := squeezed(statement)
	var added []string
	old := map[string]bool{}
	for _, f := range files {
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Op == gitdiff.Added {
					added = append(added, l.Text)
				} else {
					old[squeezed(l.Text)] = true
				}
			}
		}
	}
	var leaked []string
	for _, line := range added {
		s := squeezed(line)
		if len(s) >= minLeak && !old[s] && strings.Contains(text, s) {
			leaked = append(leaked, strings.TrimSpace(line))
		}
	}
	return leaked
}

// squeezed removes white space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }
