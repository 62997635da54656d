package stats

import "testing"

// The values are those of table II of Newcombe's paper, method 10.
func TestNewcombeEqualsHisPaper(t *testing.T) {
	for _, c := range []struct {
		a, m, b, n int
		low, high  float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339}, {9, 10, 3, 10, 0.1705, 0.8090}, {6, 7, 2, 7, 0.0582, 0.8062}, {5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775}, {0, 10, 0, 10, -0.2775, 0.2775}, {10, 10, 0, 20, 0.6791, 1}, {10, 10, 0, 10, 0.6075, 1},
	} {
		a, b := float64(c.a)/float64(c.m), float64(c.b)/float64(c.n)
		got := Newcombe(a, Wilson(c.a, c.m), b, Wilson(c.b, c.n))
		near(t, "low", got.Low, c.low, 5e-5)
		near(t, "high", got.High, c.high, 5e-5)
	}
}
