package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
)

// Report is what a check found.
type Report struct {
	Problems []Problem      // the first of each kind
	Counts   map[string]int // all of them, by kind
	Notes    []string       // what could not be checked
	Views    map[relabel.View]Figures
	Rendered int // supervised tokens of the messages view that were rendered again
}

// Problem is one thing that is wrong. What is empty is not known, or it is of the whole.
type Problem struct {
	Kind      string // what is wrong: see the kinds in docs/shard-format.md
	File, Row string // Row is a row_id, or "#n" where rows have none, n from 0
	Text      string
}

// String says all of it in one line.
func (p Problem) String() string {
	where := strings.TrimSpace(p.File + " " + p.Row)
	return fmt.Sprintf("%s: %s: %s", p.Kind, cmp.Or(where, "export"), p.Text)
}

// Figures count what a view holds.
type Figures struct {
	Files, Rows        int
	Tokens, Supervised int64 // 0 in the messages view
	Labels             int
}

func (f *Figures) add(g Figures) {
	f.Files, f.Rows, f.Labels = f.Files+g.Files, f.Rows+g.Rows, f.Labels+g.Labels
	f.Tokens, f.Supervised = f.Tokens+g.Tokens, f.Supervised+g.Supervised
}

// Sound reports whether nothing is wrong.
func (r *Report) Sound() bool { return len(r.Counts) == 0 }

// Figure is the last line: PASS or FAIL with the problems by kind, and what was read.
func (r *Report) Figure() string {
	var parts []string
	for _, view := range relabel.Views {
		f, there := r.Views[view]
		switch {
		case !there:
		case view == relabel.ViewMessages:
			parts = append(parts, fmt.Sprintf("%s %d rows", view, f.Rows))
		default:
			parts = append(parts, fmt.Sprintf("%s %d rows %d tokens %d supervised", view, f.Rows, f.Tokens, f.Supervised))
		}
	}
	parts = append(parts, fmt.Sprintf("rendered again %d", r.Rendered))
	text := strings.Join(parts, ", ")
	if r.Sound() {
		return "PASS  " + text
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.Counts)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", r.Counts[kind], kind))
	}
	return "FAIL  " + strings.Join(kinds, ", ") + "; " + text
}

// refuse notes a problem. It is safe for concurrent use.
func (c *check) refuse(kind, file, row, format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuseLocked(kind, file, row, format, a...)
}

func (c *check) refuseLocked(kind, file, row, format string, a ...any) {
	if c.report.Counts[kind]++; c.report.Counts[kind] <= c.First {
		c.report.Problems = append(c.report.Problems, Problem{kind, file, row, fmt.Sprintf(format, a...)})
	}
}

// note says what could not be checked.
func (c *check) note(format string, a ...any) {
	c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, a...))
}

// finishReport puts the report into an order that does not depend on which file was read
// first.
func (c *check) finishReport() {
	slices.SortStableFunc(c.report.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.File, b.File))
	})
	c.report.Views = map[relabel.View]Figures{}
	for view, v := range c.views {
		c.report.Views[view] = v.Figures
	}
}
