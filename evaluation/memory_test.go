package evaluation

import (
	"testing"

	"relabel/stats"
)

func TestAnIntervalIsComputedOnceForTheSameDifferences(t *testing.T) {
	computed := 0
	compute := func(values []float64, seed uint64) (stats.Interval, bool) {
		computed++
		return stats.BootstrapMean(values, seed)
	}
	var m memory
	want, known := stats.BootstrapMean([]float64{1, 0, -0.5}, bootstrapSeed)
	for range 3 {
		if got, is := m.of([]float64{1, 0, -0.5}, compute); got != want || is != known {
			t.Errorf("%v, %v, want %v", got, is, want)
		}
	}
	if computed != 1 {
		t.Errorf("it is computed %d times", computed)
	}
	m.of([]float64{0, 1, -0.5}, compute) // another order has other resamples
	if _, is := m.of([]float64{1}, compute); is || computed != 3 {
		t.Errorf("of one difference: known %v, after %d computations", is, computed)
	}
	for i := range mostRemembered {
		m.of([]float64{float64(i), 7}, func([]float64, uint64) (stats.Interval, bool) { return stats.Interval{}, true })
	}
	if len(m.known) > mostRemembered {
		t.Errorf("it remembers %d", len(m.known))
	}
}
