package chart

import (
	"fmt"

	"relabel"
)

// modeLooks are the looks of a partition's modes, in their order.
var modeLooks = []string{"failed", "context", "limit", "dim", "ink"}

// Modes shows the share of each failure mode of a partition by iteration, with its interval; word
// names a mode.
func Modes(id, title string, iterations []relabel.IterationFailures, partition func(relabel.IterationFailures) []relabel.FailureCount, word func(relabel.FailureMode) string) Chart {
	c := Chart{ID: id, Title: title, Note: "of the trajectories in this partition, with 95% intervals", X: "iteration", Unit: "%"}
	for _, f := range iterations {
		c.Labels = append(c.Labels, fmt.Sprintf("%s %d", f.Kind, f.Number))
		for i, count := range partition(f) {
			if i == len(c.Series) {
				c.Series = append(c.Series, Series{Name: word(count.Mode), Look: modeLooks[i]})
			}
			s := &c.Series[i]
			s.Values = append(s.Values, percent(count.Share))
			s.Low = append(s.Low, percent(count.Low))
			s.High = append(s.High, percent(count.High))
		}
	}
	return c.withoutEmpty()
}

func percent(share *float64) *float64 {
	if share == nil {
		return nil
	}
	return new(100 * *share)
}
