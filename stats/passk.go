package stats

// PassAtK is the unbiased estimator of pass@k of one task, 1 − C(n−c, k) / C(n, k), from n
// generations of which c succeed: the chance that one of k of them, drawn without replacement,
// succeeds (Chen et al., arXiv 2107.03374, eq. 1). k must be from 1 to n.
func PassAtK(n, c, k int) float64 {
	failing := 1.0
	for i := range k {
		failing *= float64(max(0, n-c-i)) / float64(n-i)
	}
	return 1 - failing
}
