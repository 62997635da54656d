package server_test

import (
	"context"

	"relabel"
)

func (m *memory) Regrade(_ context.Context, sel relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	m.regraded = append(m.regraded, sel)
	return m.RegradeProgress(context.Background(), sel)
}

func (m *memory) RegradeProgress(context.Context, relabel.RegradeSelection) (relabel.RegradeProgress, error) {
	return relabel.RegradeProgress{Protections: relabel.ProtectionsVersion, Verdicts: []relabel.ProtectionsCount{{Verdicts: 3, Passed: 1}},
		Regradings: map[relabel.RegradeState]int{relabel.RegradeQueued: len(m.regraded)}}, m.broken
}

func (m *memory) CancelRegradings(context.Context, relabel.RegradeSelection) (int, error) {
	return len(m.regraded), m.broken
}

func (m *memory) ListRegradings(context.Context, relabel.ID) ([]relabel.Regrading, error) {
	return nil, m.broken
}

func (m *memory) ListVerdicts(_ context.Context, id relabel.ID) ([]relabel.Verdict, error) {
	if v, ok := m.verdicts[id]; ok {
		return []relabel.Verdict{v}, m.broken
	}
	return nil, m.broken
}
