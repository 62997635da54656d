package server_test

import (
	"context"
	"slices"

	"relabel"
)

// AddWeightCheck stores a check.
func (m *memory) AddWeightCheck(_ context.Context, c relabel.WeightCheck) error {
	return add(m, &m.weightChecks, c)
}

// ListWeightChecks lists checks, newest first.
func (m *memory) ListWeightChecks(_ context.Context, f relabel.WeightFilter, limit int) (list []relabel.WeightCheck, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range slices.Backward(m.weightChecks) {
		of := f.IterationID == nil || c.IterationID != nil && *c.IterationID == *f.IterationID
		if of && (f.PolicyID == nil || c.PolicyID == *f.PolicyID) && len(list) < limit {
			list = append(list, c)
		}
	}
	return list, m.broken
}

// ListEarlierWeights lists nothing: server/weights_test.go uses a real database.
func (m *memory) ListEarlierWeights(context.Context, relabel.ID, relabel.ID, *relabel.ID) ([]relabel.EarlierWeights, error) {
	return nil, m.broken
}

// ListAddressUsers lists nothing.
func (m *memory) ListAddressUsers(context.Context, []string) ([]string, error) { return nil, m.broken }

// ListLoaded lists nothing.
func (m *memory) ListLoaded(context.Context) (map[string]bool, error) { return nil, m.broken }
