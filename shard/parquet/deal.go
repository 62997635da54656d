package parquet

// fileTokens is the maximum number of tokens in a file of a token view, chosen so that a
// badly compressible file still stays below the size limit.
const fileTokens = 24_000_000

// Deal returns the number of rows of each file of a view: as few files as can hold the
// tokens, a multiple of dataParallel, with rows distributed evenly and any remainder in the
// first files. If there are more files than rows, some files are empty.
func Deal(rows int, tokens int64, dataParallel int) []int {
	return Split(rows, int(1+(tokens-1)/fileTokens), dataParallel)
}

// Split distributes rows over at least the given number of files, at least one, rounded up to
// a multiple of dataParallel.
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
