package web

import (
	"fmt"
	"strings"

	"relabel"
)

// outcomeCount is the number of trajectories with an outcome.
type outcomeCount struct {
	Class, Sign, Word string
	Count             int
}

// Many reports whether the number is shown.
func (o outcomeCount) Many() bool { return o.Count > 1 }

// outcomeCounts are the outcomes of a cell's trajectories, good ones first.
func outcomeCounts(c relabel.GridCell) []outcomeCount {
	all := []outcomeCount{
		{"good", "✓", "resolved", c.Resolved},
		{"good", "✓", "scored, with a hit", c.Hit},
		{"bad", "✗", "scored, without a hit", c.Missed},
		{"bad", "◐", "passes, not submitted", c.PassedUnsubmitted},
		{"bad", "✗", "failed", c.Failed},
		{"limit", "◷", "out of time", c.TimeLimit},
		{"infra", "⚠", "infrastructure error", c.Error},
		{"quiet", "–", "not verified", c.Unverified},
		{"quiet", "–", "cut short or skipped", c.Cut},
		{"busy", "…", "running", c.Running},
		{"quiet", "·", "queued", c.Queued},
		{"quiet", "⊘", "cancelled", c.Cancelled},
	}
	there := all[:0]
	for _, o := range all {
		if o.Count > 0 {
			there = append(there, o)
		}
	}
	return there
}

// outcomeWords describes the outcomes of a cell.
func outcomeWords(c relabel.GridCell) string {
	var words []string
	for _, o := range outcomeCounts(c) {
		if c.Generations() == 1 {
			return o.Word
		}
		words = append(words, fmt.Sprintf("%d %s", o.Count, o.Word))
	}
	return strings.Join(words, ", ")
}
