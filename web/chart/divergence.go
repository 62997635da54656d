package chart

import (
	"fmt"
	"slices"

	"relabel"
)

// looks are those of the lines of each kind of iteration.
var looks = []struct {
	kind relabel.IterationKind
	name string
	look string
}{
	{relabel.Sample, "student alone", "student"},
	{relabel.Collect, "mixture, student's turns", "ink"},
	{relabel.Evaluate, "evaluation", "agree"},
}

// Divergence is the reverse KL divergence of the students from their teacher by iteration, as figure 1
// of the paper (4.4) but over the run's own iterations: one line for each kind of iteration, as their
// states are visited by different mixtures.
func Divergence(all []relabel.Divergence) Chart {
	c := Chart{ID: "divergence", Title: "Reverse KL divergence of student and teacher", X: "iteration", Unit: "nats per token",
		Note: "k3 over the tokens that the student sampled at its own temperature, scored at temperature 1; 95% intervals by trajectory"}
	numbers := numbersOf(all)
	for _, n := range numbers {
		c.Labels = append(c.Labels, fmt.Sprint(n))
	}
	for _, l := range looks {
		s := Series{Name: l.name, Look: l.look}
		for _, n := range numbers {
			value, low, high := divergenceOf(all, l.kind, n)
			s.Values, s.Low, s.High = append(s.Values, value), append(s.Low, low), append(s.High, high)
		}
		if slices.ContainsFunc(s.Values, func(v *float64) bool { return v != nil }) {
			c.Series = append(c.Series, s)
		}
	}
	return c
}

func numbersOf(all []relabel.Divergence) (numbers []int) {
	for _, d := range all {
		if d.ByToken != nil {
			numbers = append(numbers, d.Number)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func divergenceOf(all []relabel.Divergence, kind relabel.IterationKind, number int) (value, low, high *float64) {
	for _, d := range all {
		if d.Kind == kind && d.Number == number && d.ByToken != nil {
			return &d.ByToken.K3.Mean, d.ByToken.K3.Low, d.ByToken.K3.High
		}
	}
	return nil, nil, nil
}
