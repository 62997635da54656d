package relabel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// MostReasons bounds the reasons that progress lists.
const MostReasons = 10

// ReasonCount counts what has no result for one reason.
type ReasonCount struct {
	Reason string `json:"reason" doc:"The reason."`
	Count  int    `json:"count" doc:"How often it is the reason."`
}

// AddReasons adds counts by reason, the most frequent ones first.
func AddReasons(a, b []ReasonCount) []ReasonCount {
	sum := slices.Clone(a)
	for _, more := range b {
		i := slices.IndexFunc(sum, func(r ReasonCount) bool { return r.Reason == more.Reason })
		if i < 0 {
			sum = append(sum, more)
			continue
		}
		sum[i].Count += more.Count
	}
	slices.SortFunc(sum, func(x, y ReasonCount) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Reason, y.Reason))
	})
	return sum
}

// FirstReasons are the first MostReasons of counts.
func FirstReasons(all []ReasonCount) []ReasonCount { return all[:min(len(all), MostReasons)] }

// ReasonText lists the first reasons with their counts.
func ReasonText(reasons []ReasonCount) string {
	var parts []string
	for _, r := range FirstReasons(reasons) {
		parts = append(parts, fmt.Sprintf("%d x %s", r.Count, r.Reason))
	}
	if more := len(reasons) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d other reasons", more))
	}
	return strings.Join(parts, "; ")
}
