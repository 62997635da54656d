package chart

import (
	"fmt"
	"slices"

	"relabel"
)

// Divergence is the reverse KL divergence of the students of runs from a teacher by round, as figure 1 of
// the paper (4.4), by the tokens that the students sampled.
func Divergence(report relabel.DivergenceReport) Chart {
	c := Chart{ID: "divergence", Title: "Reverse KL divergence of student and teacher",
		Note: "k3 over the tokens that the student sampled at its own temperature, scored at temperature 1; 95% intervals by trajectory"}
	return c.byRound(report, func(d relabel.Divergence) *relabel.Mean {
		if d.ByToken == nil {
			return nil
		}
		return &d.ByToken.K3
	})
}

// DivergenceBound is the lower bound of the same divergence from the most probable tokens of both.
func DivergenceBound(report relabel.DivergenceReport) Chart {
	c := Chart{ID: "divergence-bound", Title: "Lower bound of the reverse KL divergence",
		Note: "of whole distributions, from the most probable tokens of both policies; the only one for greedy students; 95% intervals by trajectory"}
	return c.byRound(report, func(d relabel.Divergence) *relabel.Mean { return d.Top })
}

// line is what a series of byRound has in common: iterations of different kinds, or on different tasks,
// visit different states.
type line struct {
	run  int // in the report
	name string
}

// byRound draws a value of iterations by round. The lines are of one run each, of one kind of iteration,
// and on one benchmark or on the run's tasks.
func (c Chart) byRound(report relabel.DivergenceReport, value func(relabel.Divergence) *relabel.Mean) Chart {
	c.X, c.Unit = "round", "nats per token"
	var rounds []int
	for _, run := range report.Runs {
		for _, d := range run.Items {
			if value(d) != nil {
				rounds = append(rounds, d.Round)
			}
		}
	}
	slices.Sort(rounds)
	rounds = slices.Compact(rounds)
	for _, n := range rounds {
		c.Labels = append(c.Labels, fmt.Sprint(n))
	}
	at := map[line]int{}
	for i, run := range report.Runs {
		for _, d := range run.Items {
			mean := value(d)
			if mean == nil {
				continue
			}
			l := line{i, lineName(d)}
			n, known := at[l]
			if !known {
				n = len(c.Series)
				at[l] = n
				c.Series = append(c.Series, emptySeries(seriesName(report, l), runLooks[n%len(runLooks)], len(rounds)))
			}
			s, k := &c.Series[n], slices.Index(rounds, d.Round)
			s.Values[k], s.Low[k], s.High[k] = &mean.Mean, mean.Low, mean.High
		}
	}
	return c
}

func emptySeries(name, look string, n int) Series {
	return Series{Name: name, Look: look, Values: make([]*float64, n), Low: make([]*float64, n), High: make([]*float64, n)}
}

func seriesName(report relabel.DivergenceReport, l line) string {
	if len(report.Runs) == 1 {
		return l.name
	}
	return report.Runs[l.run].Run + ": " + l.name
}

// lineName names what visited the states.
func lineName(d relabel.Divergence) string {
	name := map[relabel.IterationKind]string{relabel.Sample: "student alone", relabel.Collect: "mixture, student's turns", relabel.Evaluate: "evaluation"}[d.Kind]
	switch {
	case d.BenchmarkID == nil:
		return name
	case d.Benchmark == "":
		return name + " on tasks …" + d.BenchmarkID.String()[28:]
	}
	return name + " on " + d.Benchmark
}
