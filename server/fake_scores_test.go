package server_test

import (
	"context"

	"relabel"
)

// What a memory keeps of scores is nothing: scorings_test.go asks a real store.

func (m *memory) StartScoring(context.Context, relabel.ScoreSelection, relabel.ID, int, int) error {
	return relabel.Errorf(relabel.CodeConflict, "nothing is done")
}

func (m *memory) ListScoredStudents(context.Context, relabel.ScoreSelection) ([]relabel.Policy, error) {
	return nil, nil
}

func (m *memory) EstimateScoring(context.Context, relabel.ScoreSelection, relabel.Policy, int) (relabel.ScoreEstimate, error) {
	return relabel.ScoreEstimate{}, nil
}

func (m *memory) ScoreProgress(context.Context, relabel.ScoreSelection) ([]relabel.ScoreProgress, error) {
	return nil, nil
}

func (m *memory) FindScoring(_ context.Context, id relabel.ID) (relabel.Scoring, error) {
	return relabel.Scoring{}, noSuch("scoring", id)
}

func (m *memory) ListScorings(context.Context, relabel.ScoringFilter, relabel.Page) ([]relabel.Scoring, string, error) {
	return nil, "", nil
}

func (m *memory) CancelScorings(context.Context, relabel.ScoreSelection, *relabel.ID) (int, error) {
	return 0, nil
}

func (m *memory) ListScores(_ context.Context, trajectory, _ relabel.ID) ([]relabel.Score, error) {
	return nil, noSuch("trajectory", trajectory)
}

func (m *memory) ListDivergences(context.Context, relabel.ID, relabel.ID) ([]relabel.Divergence, error) {
	return nil, nil
}

func (m *memory) EachLocalisation(context.Context, relabel.ID, func(relabel.LocalisationRollout)) error {
	return nil
}
