package chart

import (
	"cmp"
	"fmt"
	"slices"

	"relabel"
)

// runLooks are the looks of the runs of a chart of scaling, in their order: relabel.MaxScalingRuns.
var runLooks = []string{"student", "differ", "label", "teacher", "ink", "failed", "dim", "infra"}

// axisNames are the names of the horizontal axis.
var axisNames = map[relabel.ScalingAxis]string{
	relabel.AxisTrajectories: "effective samples (trajectories × epochs)",
	relabel.AxisStates:       "effective labels (labelled states × epochs)",
}

// Scaling shows the share of resolved tasks by how much the student was trained, as figure 1 of the
// paper (4.3): a line for each run.
func Scaling(report relabel.ScalingReport, axis relabel.ScalingAxis) Chart {
	c := Chart{ID: "scaling", Title: "Resolved, by training of the student", Note: "of the graded trajectories, with 95% intervals; runs at the same place are drawn side by side",
		X: axisNames[axis], Y: "resolved", Unit: "%"}
	type place struct {
		series int
		x      float64
		point  relabel.ScalingPoint
	}
	var places []place
	for i, of := range report.Runs {
		c.Series = append(c.Series, Series{Name: fmt.Sprintf("%s (%s)", of.Run, of.Recipe), Look: runLooks[i%len(runLooks)]})
		for _, p := range of.Points {
			places = append(places, place{i, p.Effective.On(axis), p})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.x, b.x) })
	for _, p := range places {
		s := &c.Series[p.series]
		if n := len(c.At); n == 0 || c.At[n-1] != p.x || s.Values[n-1] != nil {
			c.addPlace(p.x)
		}
		last := len(c.At) - 1
		r := p.point.Evaluation.Resolved
		s.Values[last], s.Low[last], s.High[last] = percent(r.Share), percent(r.Low), percent(r.High)
	}
	return c.withValues()
}

// addPlace adds a place on a numeric axis, without values.
func (c *Chart) addPlace(x float64) {
	c.At, c.Labels = append(c.At, x), append(c.Labels, Number(x))
	for i := range c.Series {
		s := &c.Series[i]
		s.Values, s.Low, s.High = append(s.Values, nil), append(s.Low, nil), append(s.High, nil)
	}
}
