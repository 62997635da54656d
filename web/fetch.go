package web

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"relabel"
)

// fetchAll is the curl command that downloads all files of an export into a folder of its name.
// Consecutive numbers in file names become ranges.
func fetchAll(r *http.Request, e relabel.Export) string {
	words := []string{"curl -fsS --fail-early --create-dirs"}
	if callerOf(r).Token {
		words = append(words, `-H "Authorization: Bearer $RELABEL_TOKEN"`)
	}
	address := hostOf(r) + "/v1/exports/" + e.ID.String() + "/files/"
	for _, f := range fetches(e.Files) {
		words = append(words, "-o", quoted(e.ID.String()+"/"+f.into), quoted(address+f.from))
	}
	return strings.Join(words, " ")
}

// fetch is an address for curl, possibly with a range, and its output file.
type fetch struct{ from, into string }

// numbered is a path with a number in its name.
var numbered = regexp.MustCompile(`^(.*/)([0-9]{1,9})([^/0-9][^/]*)$`)

// fileSeries are files whose names differ only in a number with this many digits.
type fileSeries struct {
	before, after string
	digits        int
}

// fetches are the addresses of all files.
func fetches(files []relabel.ExportFile) (all []fetch) {
	var others []string
	var series []fileSeries
	numbers := map[fileSeries][]int{}
	for _, f := range files {
		m := numbered.FindStringSubmatch(f.Path)
		if m == nil {
			others = append(others, f.Path)
			continue
		}
		of := fileSeries{m[1], m[3], len(m[2])}
		if numbers[of] == nil {
			series = append(series, of)
		}
		n, _ := strconv.Atoi(m[2]) // nine digits always are a number
		numbers[of] = append(numbers[of], n)
	}
	if len(others) > 0 {
		all = append(all, fetch{"{" + strings.Join(others, ",") + "}", "#1"})
	}
	for _, of := range series {
		all = append(all, of.fetches(numbers[of])...)
	}
	return all
}

// fetches are the addresses of a series, one per range of consecutive numbers.
func (s fileSeries) fetches(numbers []int) (all []fetch) {
	slices.Sort(numbers)
	for from := 0; from < len(numbers); {
		to := from
		for to+1 < len(numbers) && numbers[to+1] == numbers[to]+1 {
			to++
		}
		span := fmt.Sprintf("[%0*d-%0*d]", s.digits, numbers[from], s.digits, numbers[to])
		all = append(all, fetch{s.before + span + s.after, s.before + "#1" + s.after})
		from = to + 1
	}
	return all
}
