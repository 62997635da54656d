package stats

import (
	"math"
	"testing"
)

func TestKappaEqualsAHandComputation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		table [][]int
		want  float64
		known bool
	}{
		// po = 35/50, pe = (25·30 + 25·20)/50² = 0.5
		"the textbook":      {[][]int{{20, 5}, {10, 15}}, 0.4, true},
		"perfect":           {[][]int{{3, 0}, {0, 4}}, 1, true},
		"opposite":          {[][]int{{0, 5}, {5, 0}}, -1, true},
		"three categories":  {[][]int{{2, 1, 0}, {0, 3, 1}, {1, 0, 2}}, (70 - 34) / (100.0 - 34), true}, // margins 3, 4, 3 and 3, 4, 3
		"one category":      {[][]int{{7, 0}, {0, 0}}, 0, false},
		"nothing":           {[][]int{{0, 0}, {0, 0}}, 0, false},
		"no better than 50": {[][]int{{5, 5}, {5, 5}}, 0, true},
	} {
		if got, known := Kappa(c.table); known != c.known || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %t, not %v, %t", name, got, known, c.want, c.known)
		}
	}
}
