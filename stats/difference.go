package stats

import "math"

// Newcombe returns the interval of a − b, the difference of two rates, from the interval of each. With
// Wilson's intervals it is Newcombe's hybrid score interval (method 10 of his paper in Statistics in
// Medicine 17, 1998), which a rate of 0 or 1 does not make too narrow. The rates count as independent: the
// interval is too wide, not too narrow, for rates that rise and fall together.
func Newcombe(a float64, ofA Interval, b float64, ofB Interval) Interval {
	return Interval{a - b - math.Hypot(a-ofA.Low, ofB.High-b), a - b + math.Hypot(ofA.High-a, b-ofB.Low)}
}
