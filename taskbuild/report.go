package taskbuild

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"relabel/safetext"
)

// Report is the result of a build.
type Report struct {
	Changes    int `json:"changes"`    // what the source examined
	Candidates int `json:"candidates"` // of them, those whose tests were to run
	Sound      int `json:"sound"`      // of the candidates, those that are tasks
	// Built counts the candidates that this build ran; the results of the others are those of earlier ones.
	Built int `json:"built"`
	// Postponed counts the candidates that did not run because the disk limit was reached, or because the
	// build was interrupted. The next build continues with them.
	Postponed int       `json:"postponed"`
	Stopped   string    `json:"stopped,omitempty"` // why candidates were postponed
	Refused   []Refused `json:"refused"`           // all other changes, in the source's order
	Tasks     []string  `json:"tasks"`             // the instance ids, in the source's order
	// Absent are the tasks of the build before that this one did not examine, such as those of a longer range.
	Absent     []string            `json:"absent,omitempty"`
	Flaky      int                 `json:"flaky"`                 // tests that the tasks leave out because they flicker
	FlakyTests map[string][]string `json:"flaky_tests,omitempty"` // their names by task
	Bytes      int64               `json:"bytes"`                 // of the images of the tasks, without what they share
	Seconds    float64             `json:"seconds"`
	// TasksSHA256 is the digest of tasks.jsonl as it was written, whose tasks were all found sound.
	TasksSHA256 string `json:"tasks_sha256"`
}

// Refused is a change that is not a task.
type Refused struct {
	ID     string `json:"id,omitempty"` // if it was a candidate
	Change string `json:"change"`
	Title  string `json:"title,omitempty"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// ReasonCount is how many changes have a reason.
type ReasonCount struct {
	Reason Reason
	Count  int
}

// Reasons counts the refused changes by reason, the most frequent first. candidates selects the reasons of
// candidates, or those of the other changes.
func (r Report) Reasons(candidates bool) []ReasonCount {
	counts := map[Reason]int{}
	for _, refused := range r.Refused {
		if (refused.ID != "") == candidates {
			counts[refused.Reason]++
		}
	}
	var sums []ReasonCount
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		sums = append(sums, ReasonCount{reason, counts[reason]})
	}
	slices.SortStableFunc(sums, func(a, b ReasonCount) int { return cmp.Compare(b.Count, a.Count) })
	return sums
}

// Lines returns the report as text: the counts, and then the reasons of changes that are not tasks.
func (r Report) Lines() []string {
	lines := []string{fmt.Sprintf("%d changes, %d candidates, %d sound (%d built now, %.0f s, images of %d MiB)",
		r.Changes, r.Candidates, r.Sound, r.Built, r.Seconds, r.Bytes>>20)}
	if r.Postponed > 0 {
		lines = append(lines, fmt.Sprintf("%d candidates wait for the next build: %s", r.Postponed, r.Stopped))
	}
	if len(r.Absent) > 0 {
		lines = append(lines, fmt.Sprintf("tasks of the build before that are not among these changes: %d, such as %s; they are no longer in the file", len(r.Absent), r.Absent[0]))
	}
	if r.Flaky > 0 {
		lines = append(lines, fmt.Sprintf("flaky tests left out of the tasks, which report.json names: %d", r.Flaky))
	}
	for _, group := range []struct {
		name       string
		candidates bool
	}{{"not a candidate", false}, {"not sound", true}} {
		for _, c := range r.Reasons(group.candidates) {
			lines = append(lines, fmt.Sprintf("%4d %s: %s", c.Count, group.name, c.Reason))
		}
	}
	return lines
}

// Line is the entry as one line of progress.
func (e Entry) Line() string {
	what := string(e.Reason)
	switch {
	case e.Reason == "":
		what = fmt.Sprintf("sound, %d to fix, %d to keep", len(e.Task.FailToPass), len(e.Task.PassToPass))
		if len(e.Flaky) > 0 {
			what += fmt.Sprintf(", %d flaky", len(e.Flaky))
		}
	case e.Detail != "":
		what += ": " + e.Detail
	}
	return safetext.TerminalLine(fmt.Sprintf("%s: %s (%.1f s) – %s", e.ID, what, e.Seconds, e.Title))
}
