package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %.15g, not %.15g", what, got, want)
	}
}

// The values are those of statsmodels 0.15.0, proportion_confint(k, n, 0.05, "wilson").
func TestWilsonEqualsStatsmodels(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, 0.27753279986288926},
		{127, 466, 0.23408771163416986, 0.31469625363760134},
		{17, 100, 0.1089356611405993, 0.2554800476760113},
		{10, 10, 0.7224672001371106, 1},
		{1, 1, 0.2065493143772374, 1},
		{466, 466, 0.991823925393182, 1},
	} {
		got := Wilson(c.k, c.n)
		near(t, "low", got.Low, c.low, 1e-12)
		near(t, "high", got.High, c.high, 1e-12)
	}
	if got := Wilson(0, 0); got != (Interval{0, 1}) {
		t.Errorf("without trials %v", got)
	}
}

// The values are those of scipy 1.17.1, stats.t.ppf(0.975, df).
func TestStudentQuantilesEqualScipy(t *testing.T) {
	for df, want := range map[int]float64{1: 12.706204736174694, 2: 4.302652729749462, 5: 2.5705818356363146, 9: 2.262157162798205,
		30: 2.0422724563012378, 99: 1.9842169515864174, 465: 1.9650787220797188} {
		near(t, "quantile", studentQuantile(df), want, 1e-9)
	}
}

// The values are those of statsmodels 0.15.0: OLS of the outcomes on a constant,
// fit(cov_type="cluster", use_t=True), conf_int().
func TestClusteredEqualsStatsmodels(t *testing.T) {
	successes := []int{4, 0, 1, 3, 2, 0, 4, 1, 0, 2}
	trials := []int{4, 4, 4, 3, 4, 4, 4, 2, 4, 4}
	var clusters []Cluster
	for i := range successes {
		clusters = append(clusters, Cluster{successes[i], trials[i]})
	}
	got, exact := Clustered(append(clusters, Cluster{})) // a task without results changes nothing
	near(t, "low", got.Low, 0.15123482592062554, 1e-9)
	near(t, "high", got.High, 0.7676840929982938, 1e-9)
	if !exact {
		t.Error("the interval is not from the standard error")
	}
}

// Eight equal generations of each task do not make the interval narrower than one.
func TestEqualClustersFallBackOnOneTrialForEach(t *testing.T) {
	clusters := make([]Cluster, 10)
	for i := range clusters {
		clusters[i] = Cluster{0, 8}
	}
	if got, exact := Clustered(clusters); got != Wilson(0, 10) || exact {
		t.Errorf("%v, %v", got, exact)
	}
	if got, exact := Clustered([]Cluster{{1, 2}}); got != (Interval{Wilson(0, 1).Low, Wilson(1, 1).High}) || exact {
		t.Errorf("%v, %v", got, exact)
	}
	if got, exact := Clustered(nil); got != (Interval{0, 1}) || exact {
		t.Errorf("%v, %v", got, exact)
	}
}

// The values are those of statsmodels 0.15.0, mcnemar([[50, b], [c, 50]], exact=True).
func TestMcNemarEqualsStatsmodels(t *testing.T) {
	for _, c := range []struct {
		b, c int
		p    float64
	}{{0, 0, 1}, {1, 0, 1}, {3, 12, 0.03515625}, {12, 3, 0.03515625}, {5, 5, 1}, {20, 41, 0.009853448195259268}, {0, 6, 0.03125}} {
		near(t, "p", McNemar(c.b, c.c), c.p, 1e-12)
	}
	near(t, "p of many", McNemar(49_000, 51_000), 2.5887160383468943e-10, 1e-18) // no overflow
}

// The values are those of scipy 1.17.1, stats.bootstrap(method="percentile") of the mean of 100
// differences: 75 of 0, 8 of −1, 17 of 1. Means are multiples of 0.01, and resamples differ.
func TestBootstrapEqualsScipy(t *testing.T) {
	values := make([]float64, 100)
	for i := range 25 {
		values[i] = 1
		if i < 8 {
			values[i] = -1
		}
	}
	got, _ := BootstrapMean(values, 1)
	near(t, "low", got.Low, -0.01, 0.0101)
	near(t, "high", got.High, 0.19, 0.0101)
	if again, _ := BootstrapMean(values, 1); again != got {
		t.Errorf("%v and %v with one seed", got, again)
	}
	if got, known := BootstrapMean([]float64{0.5, 0.5}, 1); got != (Interval{0.5, 0.5}) || !known {
		t.Errorf("%v of equal values", got)
	}
	for _, few := range [][]float64{nil, {1}} {
		if got, known := BootstrapMean(few, 1); known {
			t.Errorf("%v is an interval of %v", got, few)
		}
	}
}

func TestPassAtKIsTheShareOfSubsetsThatPass(t *testing.T) {
	choose := func(n, k int) float64 {
		value, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(n), int64(k))).Float64()
		return value
	}
	for n := 1; n <= 20; n++ {
		for c := 0; c <= n; c++ {
			for k := 1; k <= n; k++ {
				near(t, "pass@k", PassAtK(n, c, k), 1-choose(n-c, k)/choose(n, k), 1e-12)
			}
		}
	}
	near(t, "pass@100", PassAtK(200, 7, 100), 0.9929911172418123, 1e-12) // numpy, as in the paper's listing
}

func TestColumnsHaveTheIntervalsThatTheyHaveAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var rows [][]float64
	var first, second []float64
	for range 50 {
		a, b := random.Float64(), float64(random.IntN(2))
		rows, first, second = append(rows, []float64{a, b}), append(first, a), append(second, b)
	}
	got, known := BootstrapMeans(rows, 7)
	ofFirst, _ := BootstrapMean(first, 7)
	ofSecond, _ := BootstrapMean(second, 7)
	if !known || !slices.Equal(got, []Interval{ofFirst, ofSecond}) {
		t.Errorf("%v, want %v and %v", got, ofFirst, ofSecond)
	}
	if _, known := BootstrapMeans(rows[:1], 7); known {
		t.Error("one row has an interval")
	}
}
