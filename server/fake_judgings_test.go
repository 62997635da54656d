package server_test

import (
	"context"

	"relabel"
)

// What a memory keeps of judgings is nothing: judgings_test.go asks a real store.

func (m *memory) StartJudging(context.Context, relabel.JudgeSelection, relabel.ID, relabel.JudgePrompt, int) error {
	return relabel.Errorf(relabel.CodeConflict, "nothing is done")
}

func (m *memory) EstimateJudging(context.Context, relabel.JudgeSelection, relabel.Policy, relabel.JudgePrompt) (relabel.JudgeEstimate, error) {
	return relabel.JudgeEstimate{}, nil
}

func (m *memory) JudgeProgress(context.Context, relabel.JudgeSelection) ([]relabel.JudgeProgress, error) {
	return nil, nil
}

func (m *memory) FindJudging(_ context.Context, id relabel.ID) (relabel.Judging, error) {
	return relabel.Judging{}, noSuch("judging", id)
}

func (m *memory) ListJudgings(context.Context, relabel.JudgingFilter, relabel.Page) ([]relabel.Judging, string, error) {
	return nil, "", nil
}

func (m *memory) CancelJudgings(context.Context, relabel.JudgeSelection, *relabel.ID) (int, error) {
	return 0, nil
}

func (m *memory) FindJudgePrompt(context.Context, string) (relabel.JudgePrompt, error) {
	return relabel.JudgePrompt{}, relabel.Errorf(relabel.CodeNotFound, "there is no such prompt")
}

func (m *memory) ListJudgeTallies(context.Context, relabel.ID) ([]relabel.JudgeTally, error) {
	return nil, nil
}
