package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// distribution draws the log-probabilities of n tokens.
func distribution(r *rand.Rand, n int) []float64 {
	logprobs, sum := make([]float64, n), 0.0
	for i := range logprobs {
		logprobs[i] = 2 * r.NormFloat64()
		sum += math.Exp(logprobs[i])
	}
	for i := range logprobs {
		logprobs[i] -= math.Log(sum)
	}
	return logprobs
}

// exactKL is Σ p·log(p/q).
func exactKL(p, q []float64) (sum float64) {
	for i := range p {
		sum += math.Exp(p[i]) * (p[i] - q[i])
	}
	return sum
}

// Their expectation over all tokens is the divergence itself, without any sampling.
func TestBothEstimatorsOfKLAreUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		p, q := distribution(r, 20), distribution(r, 20)
		var k1, k3 float64
		for i := range p {
			var one KL
			one.Add(p[i], q[i])
			k1 += math.Exp(p[i]) * one.K1
			k3 += math.Exp(p[i]) * one.K3
			if one.K3 < 0 {
				t.Fatalf("k3 is %v", one.K3)
			}
		}
		near(t, "k1", k1, exactKL(p, q), 1e-9)
		near(t, "k3", k3, exactKL(p, q), 1e-9)
	}
}

func TestImpossibleTokensAreCountedApart(t *testing.T) {
	var k KL
	k.Add(-9999, -1)
	k.Add(-1, -9999)
	k.Add(-1, -2)
	if k.Impossible != 2 || k.Tokens != 1 {
		t.Errorf("%+v", k)
	}
	near(t, "k1", k.K1, 1, 1e-12)
	near(t, "k3", k.K3, math.Exp(-1), 1e-12)
}

func TestMeansOfUnlikelyTokensAreFinite(t *testing.T) {
	var clusters []MeanCluster
	for range 100 {
		var k KL
		for range 1000 {
			for _, logprob := range []float64{-299, -301, -650, -800, -1e30} {
				k.Add(logprob, -0.1)
				k.Add(-0.1, logprob)
			}
		}
		if k.Tokens != 2000 || k.Impossible != 8000 {
			t.Fatalf("%+v", k)
		}
		clusters = append(clusters, MeanCluster{k.K3, k.Tokens}, MeanCluster{1, 1000})
	}
	for _, of := range []func([]MeanCluster) (float64, Interval, bool){ClusteredMean, MeanOfMeans} {
		mean, interval, known := of(clusters)
		if !known || math.IsInf(mean, 0) || math.IsInf(interval.Low, 0) || math.IsInf(interval.High, 0) || math.IsNaN(interval.Low) {
			t.Errorf("%v, %v", mean, interval)
		}
	}
}

// top is the k most probable tokens, as a server lists them.
func top(logprobs []float64, k int) (ids []int32, values []float32) {
	for i := range logprobs {
		ids = append(ids, int32(i))
	}
	slices.SortFunc(ids, func(a, b int32) int {
		if logprobs[a] > logprobs[b] {
			return -1
		}
		return 1
	})
	for _, id := range ids[:k] {
		values = append(values, float32(logprobs[id]))
	}
	return ids[:k], values
}

func TestLumpedTailsBoundTheDivergenceFromBelow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		p, q := distribution(r, 30), distribution(r, 30)
		for _, k := range []int{1, 5, 20, 30} {
			pi, pv := top(p, k)
			qi, qv := top(q, k)
			bound, exact := LumpedKL(pi, pv, qi, qv), exactKL(p, q)
			if bound > exact+1e-5 {
				t.Fatalf("k=%d: the bound %v is above %v", k, bound, exact)
			}
			if k == 30 {
				near(t, "with every token, the bound", bound, exact, 1e-5)
			}
		}
		pi, pv := top(p, 20)
		near(t, "of the same distribution, the bound", LumpedKL(pi, pv, pi, pv), 0, 1e-6)
	}
}

func TestClusteredMeansCountClustersOnce(t *testing.T) {
	// Three clusters of values: (1, 3), (2), (6).
	mean, interval, known := ClusteredMean([]MeanCluster{{4, 2}, {2, 1}, {}, {6, 1}})
	// mean 3; residual sums −2, −1, 3; s² = 3/2 · 14 / 16; t(2) = 4.302652729749462
	half := 4.302652729749462 * math.Sqrt(1.5*14/16)
	near(t, "mean", mean, 3, 1e-12)
	near(t, "low", interval.Low, 3-half, 1e-9)
	near(t, "high", interval.High, 3+half, 1e-9)
	if !known {
		t.Error("three clusters have no interval")
	}
	mean, _, _ = MeanOfMeans([]MeanCluster{{4, 2}, {2, 1}, {}, {6, 1}})
	near(t, "mean of means", mean, 10.0/3, 1e-12)
	if _, _, known := ClusteredMean([]MeanCluster{{4, 2}}); known {
		t.Error("one cluster has an interval")
	}
	if _, _, known := ClusteredMean(nil); known {
		t.Error("nothing has an interval")
	}
	// Ten copies of a token in one trajectory say no more than one.
	_, one, _ := ClusteredMean([]MeanCluster{{1, 1}, {2, 1}})
	_, ten, _ := ClusteredMean([]MeanCluster{{10, 10}, {20, 10}})
	near(t, "low", ten.Low, one.Low, 1e-9)
}
