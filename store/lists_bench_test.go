package store_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"relabel"
	"relabel/store/storetest"
)

// BenchmarkListOf100000 asks for the first page of each filter by each sort, of one run and
// of all, among 100,100 trajectories, and counts what fits. A sub-benchmark is a filter; its
// slowest list is what counts, the best of three times each.
func BenchmarkListOf100000(b *testing.B) {
	s := storetest.New(b)
	c := storetest.SeedCrowd(b, s, 91_000, 3)
	review(b, s)
	ctx := context.Background()
	filters := listFilters(c)
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		b.Run(name, func(b *testing.B) {
			f := filters[name]
			var slowest, sum time.Duration
			lists, which := 0, ""
			for b.Loop() {
				for _, sort := range relabel.TrajectorySorts {
					for _, run := range []*relabel.ID{nil, &c.Run.ID} {
						f.RunID = run
						best := time.Hour
						for range 3 {
							began := time.Now()
							_, err := s.ListTrajectories(ctx, f, sort, relabel.Page{Limit: 50})
							must(b, err)
							best = min(best, time.Since(began))
						}
						sum, lists = sum+best, lists+1
						if best > slowest {
							slowest, which = best, string(sort)
						}
					}
				}
			}
			b.Logf("slowest by %s", which)
			b.ReportMetric(float64(slowest.Microseconds())/1000, "ms-slowest")
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(lists), "ms-mean")
		})
	}
}
