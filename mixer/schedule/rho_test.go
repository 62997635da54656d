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
	} {
		wantField(t, schedule.ValidateRho(s), field)
	}
}
