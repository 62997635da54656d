package server_test

import (
	"context"

	"relabel"
)

// The failure modes of the memory: none are computed.

func (m *memory) FindFailure(context.Context, relabel.ID) (relabel.FailureFinding, error) {
	return relabel.FailureFinding{}, relabel.Errorf(relabel.CodeNotFound, "no failure mode")
}

func (m *memory) ListFailureTallies(context.Context, relabel.ID) ([]relabel.FailureTally, error) {
	return nil, nil
}

func (m *memory) ListComparisons(context.Context, relabel.ID) ([]relabel.ComparisonTally, error) {
	return nil, nil
}

// EachLabelledTrajectory has none.
func (m *memory) EachLabelledTrajectory(context.Context, relabel.ID, bool, func(relabel.LabelledTrajectory) error) error {
	return nil
}
