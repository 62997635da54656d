package server_test

import (
	"context"

	"relabel"
)

// What a memory keeps of relabelings is nothing: postgres_test.go asks a real store.

func noSuch(what string, id relabel.ID) error {
	return relabel.Errorf(relabel.CodeNotFound, "there is no %s %s", what, id)
}

func (m *memory) LabelIteration(_ context.Context, id relabel.ID) (relabel.Iteration, error) {
	return relabel.Iteration{}, noSuch("iteration", id)
}

func (m *memory) ListBatches(context.Context, relabel.ID) ([]relabel.LabelBatch, error) {
	return nil, nil
}

func (m *memory) RelabelTrajectory(_ context.Context, id, _ relabel.ID, _ int) (relabel.Relabeling, error) {
	return relabel.Relabeling{}, noSuch("trajectory", id)
}

func (m *memory) RelabelIteration(_ context.Context, id, _ relabel.ID, _ int) (relabel.RelabelProgress, error) {
	return relabel.RelabelProgress{}, noSuch("iteration", id)
}

func (m *memory) RelabelProgress(context.Context, relabel.ID) ([]relabel.RelabelProgress, error) {
	return nil, nil
}

func (m *memory) CancelRelabelings(context.Context, relabel.ID, *relabel.ID) (int, error) {
	return 0, nil
}

func (m *memory) ListRelabelings(context.Context, relabel.RelabelFilter, relabel.Page) ([]relabel.Relabeling, string, error) {
	return nil, "", nil
}

func (m *memory) FindRelabeling(_ context.Context, id relabel.ID) (relabel.Relabeling, error) {
	return relabel.Relabeling{}, noSuch("relabeling", id)
}

func (m *memory) CancelRelabeling(_ context.Context, id relabel.ID) (relabel.Relabeling, error) {
	return relabel.Relabeling{}, noSuch("relabeling", id)
}
