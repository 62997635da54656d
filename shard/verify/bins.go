package verify

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"relabel"
)

// binName checks that the row is named <view>/<part>/<bin>, and records the numbers.
func (f *fileCheck) binName(row *relabel.ExportRow) {
	rest, ok := strings.CutPrefix(row.ID, string(f.entry.View)+"/")
	part, bin, _ := strings.Cut(rest, "/")
	p, err1 := strconv.Atoi(part)
	b, err2 := strconv.Atoi(bin)
	if !ok || err1 != nil || err2 != nil || row.ID != string(f.entry.View)+"/"+strconv.Itoa(p)+"/"+strconv.Itoa(b) {
		f.reject(row, "row_id", "its name is not %s/<part>/<bin>", f.entry.View)
		return
	}
	if n := len(f.bins); n > 0 && f.bins[n-1].part == p && f.bins[n-1].first+f.bins[n-1].count == b {
		f.bins[n-1].count++
		return
	}
	f.bins = append(f.bins, binRun{part: p, first: b, count: 1, file: f.entry.Path, row: row.ID})
}

// binRun is a run of rows of a file with consecutive bin numbers.
type binRun struct {
	part, first, count int
	file, row          string // of the first
}

// checkBins checks that the bins of each part are numbered from 0 without gaps, across its
// files.
func (c *check) checkBins(v *viewState) {
	slices.SortStableFunc(v.bins, func(a, b binRun) int {
		return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.number(), b.number()))
	})
	part, next := -1, 0
	for _, run := range v.bins {
		if run.part != part {
			part, next = run.part, 0
		}
		if run.first != next {
			c.refuse("order", run.file, run.row, "bin %d of part %d is expected here", next, part)
		}
		next = run.first + run.count
	}
}

// checkParts checks that each row is in a file of its part: with P parts, file k of part p
// has the number k·P + p. It uses the P that fits most rows.
func (c *check) checkParts(v *viewState) {
	best, parts := -1, 0
	highest := 0
	for _, run := range v.bins {
		highest = max(highest, run.number())
	}
	for p := 1; p <= highest+1; p++ {
		fit := 0
		for _, run := range v.bins {
			if run.fits(p) {
				fit++
			}
		}
		if fit > best {
			best, parts = fit, p
		}
	}
	for _, run := range v.bins {
		if !run.fits(parts) {
			c.refuse("order", run.file, run.row, "the file does not belong to part %d", run.part)
		}
	}
}

// number returns the number of the run's file, -1 if its name has none.
func (r binRun) number() int {
	name, _, _ := strings.Cut(path.Base(r.file), ".")
	n, err := strconv.Atoi(name)
	if err != nil {
		return -1
	}
	return n
}

// fits reports whether the run's file belongs to its part, given the number of parts.
func (r binRun) fits(parts int) bool {
	n := r.number()
	return n >= 0 && r.part < parts && n%parts == r.part
}
