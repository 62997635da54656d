package chart

import (
	"fmt"

	"relabel"
)

// Evaluations shows the shares of resolved trajectories and of valid submissions in evaluations on one
// benchmark, with their intervals.
func Evaluations(id, title string, all []relabel.Results) Chart {
	c := Chart{ID: id, Title: title, Note: "of the graded trajectories, with 95% intervals", X: "evaluation", Unit: "%",
		Series: []Series{{Name: "resolved", Look: "passed"}, {Name: "valid submissions", Look: "dim"}}}
	for _, e := range all {
		c.Labels = append(c.Labels, fmt.Sprint(e.Number))
		c.Series[0].add(e.Resolved)
		c.Series[1].add(e.Submitted)
	}
	return c
}

// Samples shows the share of resolved trajectories in samples with its interval, and pass@k for the
// number of generations.
func Samples(all []relabel.Results) Chart {
	c := Chart{ID: "samples", Title: "Samples", Note: "of the graded trajectories, with 95% intervals; pass@k for all generations of a task", X: "sample", Unit: "%",
		Series: []Series{{Name: "resolved", Look: "passed"}, {Name: "pass@k", Look: "student"}}}
	for _, r := range all {
		c.Labels = append(c.Labels, fmt.Sprint(r.Number))
		c.Series[0].add(r.Resolved)
		var pass *float64
		if n := len(r.PassAtK); n > 0 {
			pass = percent(r.PassAtK[n-1].Value)
		}
		c.Series[1].Values = append(c.Series[1].Values, pass)
	}
	return c.withValues()
}

// add adds a point of a line with its interval.
func (s *Series) add(p relabel.Proportion) {
	s.Values = append(s.Values, percent(p.Share))
	s.Low = append(s.Low, percent(p.Low))
	s.High = append(s.High, percent(p.High))
}

// withValues removes series without a value.
func (c Chart) withValues() Chart {
	var there []Series
	for _, s := range c.Series {
		if (Chart{Series: []Series{s}}).Drawn() {
			there = append(there, s)
		}
	}
	c.Series = there
	return c
}
