package ranking

import (
	"math"
	"strings"
)

// separator stands between the path and the qualified name of an entry.
const separator = "::"

// Deduplicate returns a list with each entry at its first place only.
func Deduplicate(list []string) []string {
	seen := make(map[string]bool, len(list))
	var once []string
	for _, entry := range list {
		if !seen[entry] {
			seen[entry] = true
			once = append(once, entry)
		}
	}
	return once
}

// File is the path of an entry.
func File(entry string) string {
	file, _, _ := strings.Cut(entry, separator)
	return file
}

// Files ranks the files of a list's entries, each by its first place.
func Files(list []string) []string {
	files := make([]string, len(list))
	for i, entry := range list {
		files[i] = File(entry)
	}
	return Deduplicate(files)
}

// Figures are those of one list, each from 0 to 1, as ToolTrain's paper defines them in sections 3.3 and
// 4.2. Their means over tasks are Recall@k, MAP (equation 4), MRR (6) and nDCG@5 (7).
type Figures struct {
	Recall1, Recall3, Recall5 float64
	AP, RR, NDCG5             float64
}

// Values are the figures in the order of their fields.
func (f Figures) Values() []float64 {
	return []float64{f.Recall1, f.Recall3, f.Recall5, f.AP, f.RR, f.NDCG5}
}

// Of returns the figures of a ranked list, of which only the first place of an entry counts. All are 0
// if the list is empty. known is false without gold, for which nothing is defined.
func Of(list, gold []string) (f Figures, known bool) {
	if len(gold) == 0 {
		return f, false
	}
	hits, size := hitsOf(list, gold)
	return Figures{
		Recall1: recall(hits, size, 1), Recall3: recall(hits, size, 3), Recall5: recall(hits, size, 5),
		AP: averagePrecision(hits, size), RR: reciprocalRank(hits), NDCG5: ndcg(hits, size, 5),
	}, true
}

// NDCG returns nDCG@k of a list as Of does that of 5; k is at least 1.
func NDCG(list, gold []string, k int) (value float64, known bool) {
	if len(gold) == 0 {
		return 0, false
	}
	hits, size := hitsOf(list, gold)
	return ndcg(hits, size, k), true
}

// hitsOf says of each entry of a list without duplicates whether it is gold, and returns the size of the
// gold set.
func hitsOf(list, gold []string) (hits []bool, size int) {
	is := make(map[string]bool, len(gold))
	for _, entry := range gold {
		is[entry] = true
	}
	for _, entry := range Deduplicate(list) {
		hits = append(hits, is[entry])
	}
	return hits, len(is)
}

// recall is the share of gold among the first k entries.
func recall(hits []bool, gold, k int) float64 {
	n := 0
	for _, hit := range hits[:min(k, len(hits))] {
		if hit {
			n++
		}
	}
	return float64(n) / float64(gold)
}

// averagePrecision is the sum of the precision at each hit by the size of gold (equation 5).
func averagePrecision(hits []bool, gold int) float64 {
	n, sum := 0, 0.0
	for i, hit := range hits {
		if hit {
			n++
			sum += float64(n) / float64(i+1)
		}
	}
	return sum / float64(gold)
}

// reciprocalRank is one by the place of the first hit, 0 without (a term of equation 6).
func reciprocalRank(hits []bool) float64 {
	for i, hit := range hits {
		if hit {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// ndcg is DCG@k (equation 2) by that of a list that begins with all gold (3), which is nDCG@k (1).
func ndcg(hits []bool, gold, k int) float64 {
	ideal := 0.0
	for i := range min(k, gold) {
		ideal += gain(i)
	}
	dcg := 0.0
	for i, hit := range hits[:min(k, len(hits))] {
		if hit {
			dcg += gain(i)
		}
	}
	return dcg / ideal
}

// gain is that of a hit at a place from 0.
func gain(place int) float64 { return 1 / math.Log2(float64(place+2)) }
