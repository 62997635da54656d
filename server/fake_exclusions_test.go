package server_test

import (
	"context"
	"slices"
	"time"

	"relabel"
)

// CreateExclusion, like the methods below, keeps the promises of relabel.ExclusionStore.
func (m *memory) CreateExclusion(_ context.Context, e relabel.Exclusion, entries []string) error {
	if _, err := find(m, &m.exclusions, func(have relabel.Exclusion) bool { return have.Name == e.Name }); err == nil {
		return relabel.Errorf(relabel.CodeConflict, "an exclusion list has this name").On("name")
	}
	e.Entries, e.CreatedAt = len(entries), time.Now()
	m.exclusionEntries[e.ID] = slices.Sorted(slices.Values(entries))
	return add(m, &m.exclusions, e)
}

func (m *memory) DeleteExclusion(_ context.Context, id relabel.ID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exclusions = slices.DeleteFunc(m.exclusions, func(e relabel.Exclusion) bool { return e.ID == id })
	return nil
}

func (m *memory) FindExclusion(_ context.Context, id relabel.ID) (relabel.Exclusion, error) {
	return find(m, &m.exclusions, func(e relabel.Exclusion) bool { return e.ID == id })
}

func (m *memory) FindExclusionByName(_ context.Context, name string) (relabel.Exclusion, error) {
	return find(m, &m.exclusions, func(e relabel.Exclusion) bool { return e.Name == name })
}

func (m *memory) ListExclusions(context.Context, relabel.Page) ([]relabel.Exclusion, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.exclusions), "", nil
}

func (m *memory) ListExclusionEntries(_ context.Context, id relabel.ID) ([]string, error) {
	return m.exclusionEntries[id], nil
}

func (m *memory) CountExcluded(context.Context, relabel.ID) (relabel.Reservation, error) {
	return relabel.Reservation{}, nil
}

// FindOverlaps returns the query as a report: the names that it compares with.
func (m *memory) FindOverlaps(_ context.Context, q relabel.OverlapQuery) (relabel.OverlapReport, error) {
	report := relabel.OverlapReport{Threshold: q.Threshold, Overlaps: []relabel.Overlap{}, Affected: map[relabel.OverlapKind]int{}, With: slices.Clone(q.Entries)}
	for _, b := range q.Benchmarks {
		report.With = append(report.With, "benchmark "+b.Name)
	}
	for _, e := range q.Exclusions {
		report.With = append(report.With, "exclusions "+e.Name)
	}
	for _, set := range q.Tasksets {
		report.With = append(report.With, "taskset "+set.Name)
	}
	return report, nil
}
