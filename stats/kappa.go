package stats

// Kappa is Cohen's kappa of a square table of counts, whose rows are the categories of one rater and
// whose columns are the same categories of the other: (po − pe)/(1 − pe), with the share po of the diagonal
// and the share pe that independent raters with these margins would have. It is not known without counts,
// and if both raters gave everything one category.
func Kappa(table [][]int) (kappa float64, known bool) {
	rows, columns := make([]float64, len(table)), make([]float64, len(table))
	n, equal := 0.0, 0.0
	for i, row := range table {
		for j, count := range row {
			rows[i] += float64(count)
			columns[j] += float64(count)
			n += float64(count)
		}
		equal += float64(row[i])
	}
	chance := 0.0
	for i := range rows {
		chance += rows[i] * columns[i]
	}
	if n*n == chance { // also without counts
		return 0, false
	}
	return (n*equal - chance) / (n*n - chance), true
}
