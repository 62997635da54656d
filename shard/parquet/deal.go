package parquet

// fileTokens is how many tokens a file of a token view holds at most, so that one that
// compresses badly is under the limit too.
const fileTokens = 24_000_000

// Deal says how many rows each file of a view gets, for rows of so many tokens in all and
// the data-parallel size that they are to be split for: as few files as hold the tokens
// and are a multiple of it, the same number of rows in each, one more in the first ones.
// There are files without a row where there are more files than rows.
func Deal(rows int, tokens int64, dataParallel int) []int {
	return Split(rows, int(1+(tokens-1)/fileTokens), dataParallel)
}

// Split deals rows to at least so many files, one at least, a multiple of dataParallel.
func Split(rows, least, dataParallel int) []int {
	d := max(dataParallel, 1)
	files := make([]int, max(d, (least+d-1)/d*d))
	for i := range files {
		files[i] = rows / len(files)
		if i < rows%len(files) {
			files[i]++
		}
	}
	return files
}
