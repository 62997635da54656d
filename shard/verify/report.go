package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relabel"
)

// Report is the result of a check.
type Report struct {
	Problems  []Problem                `json:"problems"` // the first of each kind
	Counts    map[string]int           `json:"counts"`   // all of them, by kind
	Notes     []string                 `json:"notes"`    // comparisons that were not possible
	Views     map[relabel.View]Figures `json:"views"`
	Rendered  int                      `json:"rendered_tokens"` // supervised tokens of the messages view that were rendered again
	Labels    int                      `json:"rendered_labels"` // labels of that view that were
	Unchecked []Unchecked              `json:"unchecked"`       // labels that were not
}

// Problem is one defect. Empty fields are unknown, or the problem concerns the whole export.
type Problem struct {
	Kind string `json:"kind"` // what is wrong: see the kinds in docs/shard-format.md
	File string `json:"file"`
	Row  string `json:"row"` // a row_id, or "#n" where rows have none, n from 0
	Text string `json:"text"`
}

// String returns the problem as one line.
func (p Problem) String() string {
	where := strings.TrimSpace(p.File + " " + p.Row)
	return fmt.Sprintf("%s: %s: %s", p.Kind, cmp.Or(where, "export"), p.Text)
}

// Figures are the totals of a view.
type Figures struct {
	Files      int   `json:"files"`
	Rows       int   `json:"rows"`
	Tokens     int64 `json:"tokens"`            // 0 in the messages view
	Supervised int64 `json:"supervised_tokens"` // likewise
	Labels     int   `json:"labels"`            // 0 in bare rows
}

func (f *Figures) add(g Figures) {
	f.Files, f.Rows, f.Labels = f.Files+g.Files, f.Rows+g.Rows, f.Labels+g.Labels
	f.Tokens, f.Supervised = f.Tokens+g.Tokens, f.Supervised+g.Supervised
}

// Sound reports whether there are no problems.
func (r *Report) Sound() bool { return len(r.Counts) == 0 }

// MarshalJSON adds whether the export is sound.
func (r *Report) MarshalJSON() ([]byte, error) {
	type fields Report
	return json.Marshal(struct {
		Sound bool `json:"sound"`
		*fields
	}{r.Sound(), (*fields)(r)})
}

// Lines returns the listed problems, the notes, and Figure.
func (r *Report) Lines() (lines []string) {
	for _, p := range r.Problems {
		lines = append(lines, p.String())
	}
	for _, note := range r.Notes {
		lines = append(lines, "note: "+note)
	}
	return append(lines, r.Figure())
}

// Figure returns the last line: PASS or FAIL with the number of problems by kind, the totals, and
// the labels that were not compared with a rendering of their state.
func (r *Report) Figure() string {
	var parts []string
	for _, view := range relabel.AllViews {
		f, there := r.Views[view]
		switch {
		case !there:
		case view == relabel.ViewMessages:
			parts = append(parts, fmt.Sprintf("%s %d rows", view, f.Rows))
		default:
			parts = append(parts, fmt.Sprintf("%s %d rows %d tokens %d supervised", view, f.Rows, f.Tokens, f.Supervised))
		}
	}
	parts = append(parts, fmt.Sprintf("rendered again %d labels %d tokens", r.Labels, r.Rendered))
	text := strings.Join(parts, ", ") + r.uncheckedText()
	if r.Sound() {
		return "PASS  " + text
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(r.Counts)) {
		kinds = append(kinds, fmt.Sprintf("%d × %s", r.Counts[kind], kind))
	}
	return "FAIL  " + strings.Join(kinds, ", ") + "; " + text
}

// refuse records a problem. It is safe for concurrent use.
func (c *check) refuse(kind, file, row, format string, a ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report.Counts[kind]++; c.report.Counts[kind] <= c.First {
		c.report.Problems = append(c.report.Problems, Problem{kind, file, row, fmt.Sprintf(format, a...)})
	}
}

// note records a comparison that was not possible.
func (c *check) note(format string, a ...any) {
	c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, a...))
}

// finishReport sorts the report, so that it does not depend on the order in which files were
// read.
func (c *check) finishReport() {
	slices.SortStableFunc(c.report.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.File, b.File))
	})
	c.report.Unchecked = append(c.report.Unchecked, c.listUnchecked()...)
	c.report.Views = map[relabel.View]Figures{}
	for view, v := range c.views {
		c.report.Views[view] = v.Figures
	}
}
