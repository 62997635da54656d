package evaluation

import (
	"slices"
	"testing"

	"relabel/stats"
)

func TestIntervalsAreComputedOnceForTheSameDifferences(t *testing.T) {
	computed := 0
	compute := func(rows [][]float64, seed uint64) ([]stats.Interval, bool) {
		computed++
		return stats.BootstrapMeans(rows, seed)
	}
	var m memory
	want, known := stats.BootstrapMeans([][]float64{{1}, {0}, {-0.5}}, bootstrapSeed)
	for range 3 {
		if got, is := m.of([][]float64{{1}, {0}, {-0.5}}, compute); !slices.Equal(got, want) || is != known {
			t.Errorf("%v, %v, want %v", got, is, want)
		}
	}
	if computed != 1 {
		t.Errorf("they are computed %d times", computed)
	}
	m.of([][]float64{{0}, {1}, {-0.5}}, compute) // another order has other resamples
	if _, is := m.of([][]float64{{1}}, compute); is || computed != 3 {
		t.Errorf("of one difference: known %v, after %d computations", is, computed)
	}
	if got, _ := m.of([][]float64{{1, 0}, {0, 1}}, compute); len(got) != 2 || computed != 4 {
		t.Errorf("of two columns: %v, after %d computations", got, computed)
	}
	m.of([][]float64{{1}, {0}, {0}, {1}}, compute) // the same values in other rows
	if computed != 5 {
		t.Errorf("after %d computations", computed)
	}
	for i := range mostRemembered {
		m.of([][]float64{{float64(i)}, {7}}, func([][]float64, uint64) ([]stats.Interval, bool) { return nil, true })
	}
	if len(m.known) > mostRemembered {
		t.Errorf("it remembers %d", len(m.known))
	}
}
