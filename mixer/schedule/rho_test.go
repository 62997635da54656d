package schedule_test

import (
	"math"
	"testing"

	"relabel"
	"relabel/mixer/schedule"
)

const manyDraws = 20000

// maxKappa is the maximum of the tag.
const maxKappa = 1000

// drawKappas draws κ for many generations of one task: seeds are fixed, so the counts
// are the same every time.
func drawKappas(s relabel.RhoSchedule, i int) []int {
	counts := make([]int, maxKappa+1)
	for g := range manyDraws {
		at := schedule.Place{Seed: 11, Iteration: i, Instance: "a__b-1", Generation: g}
		counts[schedule.Kappa(s, i, at.Stream("test"))]++
	}
	return counts
}

func TestShiftingKappaFollowsItsLaw(t *testing.T) {
	for _, i := range []int{1, 2, 5} {
		counts := drawKappas(relabel.PaperRho, i)
		chi := 0.0
		for k := 0; k <= 40; k++ {
			p := math.Pow(float64(k+1)/41, float64(i)) - math.Pow(float64(k)/41, float64(i))
			if p*manyDraws < 5 { // too rare for the statistic
				continue
			}
			d := float64(counts[k]) - p*manyDraws
			chi += d * d / (p * manyDraws)
		}
		if chi > 74 { // 40 degrees of freedom: beyond it 1 in 1000
			t.Errorf("iteration %d: chi-square %.1f against ((k+1)/41)^%d", i, chi, i)
		}
		for k := 41; k < len(counts); k++ {
			if counts[k] > 0 {
				t.Fatalf("iteration %d: κ = %d is outside 0..40", i, k)
			}
		}
	}
}

func TestShiftingKappaGrowsOverIterations(t *testing.T) {
	last := 0.0
	for i := 1; i <= 6; i++ {
		mean := 0.0
		for k, n := range drawKappas(relabel.PaperRho, i) {
			mean += float64(k*n) / manyDraws
		}
		if i == 1 && math.Abs(mean-20) > 0.4 {
			t.Errorf("iteration 1: mean κ is %.2f; Unif{0..40} has 20", mean)
		}
		if mean <= last {
			t.Errorf("iteration %d: mean κ %.2f is no longer than %.2f before", i, mean, last)
		}
		last = mean
	}
}

func TestKappaByKind(t *testing.T) {
	at := schedule.Place{Seed: 1, Iteration: 1, Instance: "x"}
	if got := schedule.Kappa(relabel.RhoSchedule{Kind: schedule.Constant, Max: 7}, 3, at.Stream("test")); got != 7 {
		t.Errorf("constant κ is %d", got)
	}
	list := relabel.RhoSchedule{Kind: schedule.List, Values: []int{0, 10}}
	for i, want := range map[int]int{1: 0, 2: 10, 9: 10} {
		if got := schedule.Kappa(list, i, at.Stream("test")); got != want {
			t.Errorf("list: κ of iteration %d is %d, want %d", i, got, want)
		}
	}
	uniform := drawKappas(relabel.RhoSchedule{Kind: schedule.Uniform, Max: 3}, 5)
	for k := range 4 {
		if d := math.Abs(float64(uniform[k]) - manyDraws/4); d > 250 { // four standard deviations
			t.Errorf("uniform: κ = %d came %d times of %d", k, uniform[k], manyDraws)
		}
	}
}

func TestBadRhoIsRefusedByField(t *testing.T) {
	for field, s := range map[string]relabel.RhoSchedule{
		"rho.kind":      {Kind: "linear"},
		"rho.max":       {Kind: schedule.Shifting, Max: -1},
		"rho.values":    {Kind: schedule.List},
		"rho.values[0]": {Kind: schedule.List, Values: []int{maxKappa + 1}},

		"rho.ranges":        {Kind: schedule.Ranges},
		"rho.ranges[1]":     {Kind: schedule.Ranges, Ranges: [][]int{{0, 1}, {2, 1}}},
		"rho.ranges[0]":     {Kind: schedule.Ranges, Ranges: [][]int{{0, 1, 2}}},
		"rho.ranges[0][1]":  {Kind: schedule.Ranges, Ranges: [][]int{{0, maxKappa + 1}}},
		"rho.weights":       {Kind: schedule.Weights},
		"rho.weights[0]":    {Kind: schedule.Weights, Weights: [][]float64{{0, 0}}},
		"rho.weights[1]":    {Kind: schedule.Weights, Weights: [][]float64{{1}, {}}},
		"rho.weights[0][1]": {Kind: schedule.Weights, Weights: [][]float64{{0, math.NaN()}}},
	} {
		wantField(t, schedule.ValidateRho(s), field)
	}
}

func TestKappaByRangesAndWeights(t *testing.T) {
	ranges := relabel.RhoSchedule{Kind: schedule.Ranges, Ranges: [][]int{{0, 3}, {2, 3}}}
	weights := relabel.RhoSchedule{Kind: schedule.Weights, Weights: [][]float64{{1}, {0, 3, 0, 1}}}
	for _, c := range []struct {
		s     relabel.RhoSchedule
		i     int
		share []float64 // of κ = 0, 1, …
	}{
		{ranges, 1, []float64{0.25, 0.25, 0.25, 0.25}}, {ranges, 2, []float64{0, 0, 0.5, 0.5}}, {ranges, 9, []float64{0, 0, 0.5, 0.5}},
		{weights, 1, []float64{1, 0, 0, 0}}, {weights, 2, []float64{0, 0.75, 0, 0.25}}, {weights, 5, []float64{0, 0.75, 0, 0.25}},
	} {
		if err := schedule.ValidateRho(c.s); err != nil {
			t.Error(err)
		}
		counts := drawKappas(c.s, c.i)
		for k, p := range c.share {
			d := math.Abs(float64(counts[k]) - p*manyDraws)
			if d > 4*math.Sqrt(manyDraws*p*(1-p)) { // four standard deviations; 0 and 1 are exact
				t.Errorf("%s, iteration %d: κ = %d came %d times of %d, not in a share of %v", c.s.Kind, c.i, k, counts[k], manyDraws, p)
			}
		}
	}
}

func TestAnIterationMayHaveItsOwnRho(t *testing.T) {
	ask := collect()
	ask.Rho = &relabel.RhoSchedule{Kind: schedule.Ranges, Ranges: [][]int{{5, 5}}}
	p := plan(t, runOf(relabel.AggreVaTe), 3, ask, tasksOf(4, 0))
	for _, tr := range p.Trajectories {
		if tr.Kappa == nil || *tr.Kappa != 5 {
			t.Errorf("κ = %v", tr.Kappa)
		}
	}
	if p.Iteration.Rho.Kind != schedule.Ranges {
		t.Errorf("ρ of the iteration: %+v", p.Iteration.Rho)
	}
	_, err := schedule.Plan(runOf(relabel.DAgger), 1, ask, tasksOf(4, 0))
	wantField(t, err, "rho")
	ask.Rho = &relabel.RhoSchedule{Kind: schedule.Ranges}
	_, err = schedule.Plan(runOf(relabel.AggreVaTe), 1, ask, tasksOf(4, 0))
	wantField(t, err, "rho.ranges")
}
