// Package stats computes the figures of evaluations: intervals of rates, comparisons of two
// checkpoints on the same tasks, and pass@k. It knows no tasks, only their results.
package stats

import "math"

// Level is the confidence level of all intervals.
const Level = 0.95

// normal975 is the 0.975 quantile of the standard normal distribution.
const normal975 = 1.959963984540054

// Interval is an interval of confidence Level.
type Interval struct {
	Low, High float64
}

// Wilson returns the Wilson score interval of a rate of successes among n independent trials;
// [0, 1] if n is 0. Several generations of one task are not independent: see Clustered.
func Wilson(successes, n int) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	size, z2 := float64(n), normal975*normal975
	p := float64(successes) / size
	middle := (p + z2/(2*size)) / (1 + z2/size)
	half := normal975 / (1 + z2/size) * math.Sqrt(p*(1-p)/size+z2/(4*size*size))
	return Interval{max(0, middle-half), min(1, middle+half)}
}

// Cluster is the result of one task: Successes of Trials generations.
type Cluster struct {
	Successes, Trials int
}

// Clustered returns the interval of the rate of all successes among all trials, whose trials are
// dependent within a cluster and independent between clusters. It is rate ± t·s, where s is the
// cluster-robust standard error of a ratio, s² = g/(g−1) · Σ (yi − rate·mi)² / (Σ mi)² over g
// clusters with yi successes of mi trials, and t has g−1 degrees of freedom; cut to [0, 1].
// exact is false if s says nothing, since there is one cluster or all have the same rate: then the
// interval is Wilson's with one trial for each cluster, which is wider than any with more.
func Clustered(clusters []Cluster) (interval Interval, exact bool) {
	var successes, trials, groups int
	for _, c := range clusters {
		if c.Trials > 0 {
			groups++
		}
		successes += c.Successes
		trials += c.Trials
	}
	if trials == 0 {
		return Interval{0, 1}, false
	}
	rate, squares := float64(successes)/float64(trials), 0.0
	for _, c := range clusters {
		off := float64(c.Successes) - rate*float64(c.Trials)
		squares += off * off
	}
	if groups < 2 || squares < 1e-18 {
		return wilsonAt(rate, groups), false
	}
	s := math.Sqrt(float64(groups) / float64(groups-1) * squares / float64(trials) / float64(trials))
	half := studentQuantile(groups-1) * s
	return Interval{max(0, rate-half), min(1, rate+half)}, true
}

// wilsonAt is Wilson's interval of a rate that need not be a whole number of n trials.
func wilsonAt(rate float64, n int) Interval {
	low := Wilson(int(math.Floor(rate*float64(n))), n)
	high := Wilson(int(math.Ceil(rate*float64(n))), n)
	return Interval{low.Low, high.High}
}

// studentQuantile is the 0.975 quantile of Student's t distribution with df degrees of freedom,
// at least 1.
func studentQuantile(df int) float64 {
	low, high := 0.0, math.Pi/2
	for range 60 {
		middle := (low + high) / 2
		if studentCentral(middle, df) < Level {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Sqrt(float64(df)) * math.Tan((low+high)/2)
}

// studentCentral is the probability of |t| ≤ √df·tan(angle) (Abramowitz and Stegun 26.7.3 and
// 26.7.4, which hold for whole df).
func studentCentral(angle float64, df int) float64 {
	sine, cosine := math.Sincos(angle)
	if df == 1 {
		return 2 / math.Pi * angle
	}
	first := 2 + df%2 // the smallest numerator's successor: 1/2·3/4… for even df, 2/3·4/5… for odd ones
	term := 1.0
	if df%2 == 1 {
		term = cosine
	}
	sum := term
	for k := first; k < df-1; k += 2 {
		term *= cosine * cosine * float64(k-1) / float64(k)
		sum += term
	}
	if df%2 == 1 {
		return 2 / math.Pi * (angle + sine*sum)
	}
	return sine * sum
}
