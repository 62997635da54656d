package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// McNemar returns the exact two-sided p-value of McNemar's test: b tasks succeed only with the
// first checkpoint and c only with the second, each with chance 1/2 if neither is better. It is 1
// if b + c is 0.
func McNemar(b, c int) float64 {
	n, tail := b+c, 0.0
	half := float64(n) * math.Ln2
	for k := range min(b, c) + 1 {
		tail += math.Exp(logChoose(n, k) - half)
	}
	return min(1, 2*tail)
}

// logChoose is the logarithm of the binomial coefficient.
func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	value, _ := math.Lgamma(float64(n) + 1)
	return value
}

// Bounds of the work of a bootstrap: draws in all, and resamples.
const (
	mostDraws     = 20_000_000
	mostResamples = 10_000
	minResamples  = 1_000
)

// BootstrapMean returns the percentile interval of the mean of values, such as the differences
// of two checkpoints by task, which are resampled with replacement. The same values in the same
// order and the same seed give the same interval on any machine. known is false with fewer than two
// values, which have no interval. Equal values have one of width 0: resamples do not differ.
func BootstrapMean(values []float64, seed uint64) (interval Interval, known bool) {
	rows := make([][]float64, len(values))
	for i := range values {
		rows[i] = values[i : i+1]
	}
	intervals, known := BootstrapMeans(rows, seed)
	if !known {
		return Interval{}, false
	}
	return intervals[0], true
}

// BootstrapMeans returns the interval of the mean of each column, as BootstrapMean does, from the same
// resamples of rows. All rows have equally many values, such as the figures of one task.
func BootstrapMeans(rows [][]float64, seed uint64) (intervals []Interval, known bool) {
	n := len(rows)
	if n < 2 {
		return nil, false
	}
	random := rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))
	resamples := min(mostResamples, max(minResamples, mostDraws/n))
	means := make([][]float64, len(rows[0])) // by column
	sums := make([]float64, len(means))
	for range resamples {
		clear(sums)
		for range n {
			for c, value := range rows[random.IntN(n)] {
				sums[c] += value
			}
		}
		for c, sum := range sums {
			means[c] = append(means[c], sum/float64(n))
		}
	}
	for _, of := range means {
		slices.Sort(of)
		intervals = append(intervals, Interval{quantile(of, (1-Level)/2), quantile(of, (1+Level)/2)})
	}
	return intervals, true
}

// quantile interpolates between the sorted values on both sides of it.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	if below+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[below] + (at-float64(below))*(sorted[below+1]-sorted[below])
}
