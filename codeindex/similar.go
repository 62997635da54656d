package codeindex

import (
	"slices"
	"strings"
)

const (
	maxSimilar  = 3
	longestName = 256 // bytes of a name that are compared, from its end
)

// candidate is a similar name.
type candidate struct {
	name     string
	distance int
}

// similar returns at most three names that a misspelt name may mean, best first: those with the smallest
// edit distance of the last part and of the whole together, without regard to case. A name with a quite
// different last part is left out.
func similar(name string, among []string, separator byte) []string {
	name = folded(name)
	last := lastPart(name, separator)
	limit := 1 + len(last)/3
	var best []candidate // in order
	for _, other := range among {
		whole := folded(other)
		part := distance(last, lastPart(whole, separator), limit)
		if part > limit {
			continue
		}
		bound := 2 * longestName
		if len(best) == maxSimilar {
			bound = best[maxSimilar-1].distance - part - 1
		}
		rest := distance(name, whole, bound)
		known := func(c candidate) bool { return c.name == other }
		if rest <= bound && !slices.ContainsFunc(best, known) {
			best = insert(best, candidate{other, part + rest})
		}
	}
	names := make([]string, len(best))
	for i, c := range best {
		names[i] = c.name
	}
	return names
}

// insert keeps the first maxSimilar. Of equal distances the earlier candidate stays first.
func insert(best []candidate, c candidate) []candidate {
	i := len(best)
	for i > 0 && best[i-1].distance > c.distance {
		i--
	}
	best = slices.Insert(best, i, c)
	return best[:min(len(best), maxSimilar)]
}

// folded returns the end of a name in lower case, of at most longestName bytes.
func folded(name string) string {
	name = strings.ToLower(name[max(0, len(name)-longestName):])
	return name[max(0, len(name)-longestName):]
}

func lastPart(name string, separator byte) string {
	return name[strings.LastIndexByte(name, separator)+1:]
}

// distance is the edit distance of two folded names in bytes, or some number above the limit if it is
// above.
func distance(a, b string, limit int) int {
	a, b = differing(a, b)
	if limit < 0 || max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var row [longestName + 1]int16
	for j := range len(b) + 1 {
		row[j] = int16(j)
	}
	for i := range len(a) {
		diagonal, least := row[0], int16(i+1)
		row[0] = int16(i + 1)
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
			least = min(least, row[j+1])
		}
		if int(least) > limit {
			return limit + 1
		}
	}
	return int(row[len(b)])
}

// differing returns two names without what they begin and end with alike.
func differing(a, b string) (string, string) {
	n := sharedPrefix(a, b)
	a, b = a[n:], b[n:]
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
