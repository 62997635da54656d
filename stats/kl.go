package stats

import "math"

// NoProbability is the log-probability below which a token counts as impossible. float32 has no
// probability below e^−104, and servers write −9999 for minus infinity. Above it, the sums of k3 over any
// number of tokens and their squares stay finite.
const NoProbability = -300

// KL sums estimates of the reverse KL divergence D_KL(πθ‖πe) over tokens that πθ sampled, given
// r = log πθ − log πe of each. k1 = r is unbiased and noisy; k3 = exp(−r) − 1 + r is unbiased too,
// never negative, and less noisy. Both are of the distribution that the tokens were sampled from: of
// tokens that were sampled at another temperature than the scores', neither is exact.
type KL struct {
	Tokens     int     // with both log-probabilities
	K1, K3     float64 // sums over Tokens
	Impossible int     // tokens to which a policy gives no probability; they are in no sum
	TopTokens  int     // with the most probable tokens of both policies
	Top        float64 // sum of LumpedKL over TopTokens
}

// Add adds a token with its log-probabilities under πθ and πe, and reports whether both are of
// possible tokens.
func (k *KL) Add(student, teacher float64) bool {
	if student < NoProbability || teacher < NoProbability {
		k.Impossible++
		return false
	}
	r := student - teacher
	k.Tokens++
	k.K1 += r
	k.K3 += math.Expm1(-r) + r
	return true
}

// AddTop adds the bound of a token's divergence by LumpedKL.
func (k *KL) AddTop(bound float64) {
	k.TopTokens++
	k.Top += bound
}

// LumpedKL is a lower bound of the divergence of two distributions of which only the most probable
// tokens are known: Σ p·log(p/q) over the tokens known of both, and all others taken as one. By the
// log-sum inequality the whole divergence is at least that. ids and log-probabilities are aligned.
func LumpedKL(studentIDs []int32, student []float32, teacherIDs []int32, teacher []float32) float64 {
	of := make(map[int32]float64, len(teacherIDs))
	for i, id := range teacherIDs {
		of[id] = float64(teacher[i])
	}
	sum, restStudent, restTeacher := 0.0, 1.0, 1.0
	for i, id := range studentIDs {
		q, known := of[id]
		p := float64(student[i])
		if !known || p < NoProbability || q < NoProbability {
			continue
		}
		mass := math.Exp(p)
		sum += mass * (p - q)
		restStudent -= mass
		restTeacher -= math.Exp(q)
	}
	return max(0, sum+restKL(restStudent, restTeacher))
}

// smallestRest is the smallest mass of a tail that is told from the rounding of float32.
const smallestRest = 1e-6

// restKL is p·log(p/q) of the masses of two tails; 0 if p is only rounding. A q that is only rounding
// counts as the smallest that is not, so that the bound stays a bound.
func restKL(p, q float64) float64 {
	if p < smallestRest {
		return 0
	}
	return p * math.Log(p/max(q, smallestRest))
}

// MeanCluster is the sum of N values of one cluster, such as the tokens of a trajectory.
type MeanCluster struct {
	Sum float64
	N   int
}

// ClusteredMean returns the mean of all values and its interval, where values are dependent within a
// cluster and independent between clusters: mean ± t·s with the cluster-robust standard error of a
// ratio s, as in Clustered, and t with one degree of freedom less than clusters. known is false with
// fewer than two clusters, which have no interval. Clusters without values are ignored.
func ClusteredMean(clusters []MeanCluster) (mean float64, interval Interval, known bool) {
	var sum, squares float64
	var n, groups int
	for _, c := range clusters {
		sum += c.Sum
		n += c.N
		if c.N > 0 {
			groups++
		}
	}
	if n == 0 {
		return 0, Interval{}, false
	}
	mean = sum / float64(n)
	if groups < 2 {
		return mean, Interval{mean, mean}, false
	}
	for _, c := range clusters {
		off := c.Sum - mean*float64(c.N)
		squares += off * off
	}
	s := math.Sqrt(float64(groups)/float64(groups-1)*squares) / float64(n)
	half := studentQuantile(groups-1) * s
	return mean, Interval{mean - half, mean + half}, true
}

// MeanOfMeans is ClusteredMean with each cluster's mean as its only value: the mean over clusters.
func MeanOfMeans(clusters []MeanCluster) (mean float64, interval Interval, known bool) {
	var means []MeanCluster
	for _, c := range clusters {
		if c.N > 0 {
			means = append(means, MeanCluster{c.Sum / float64(c.N), 1})
		}
	}
	return ClusteredMean(means)
}
