package server_test

import (
	"context"

	"relabel"
)

func (m *memory) CreateValidation(context.Context, relabel.Validation, [][]byte) error {
	return relabel.Errorf(relabel.CodeInternal, "the fake stores no validation")
}

func (m *memory) FindValidation(_ context.Context, id relabel.ID) (relabel.Validation, error) {
	return relabel.Validation{}, relabel.Errorf(relabel.CodeNotFound, "no validation %s", id)
}

func (m *memory) FindValidationLog(context.Context, relabel.ID, relabel.ValidatedPatch, int) ([]byte, error) {
	return nil, relabel.Errorf(relabel.CodeNotFound, "no log")
}

func (m *memory) ListSoundness(context.Context, relabel.ID, relabel.SoundnessFilter, relabel.Page) ([]relabel.TaskSoundness, string, error) {
	return nil, "", nil
}

func (m *memory) CountSoundness(context.Context, relabel.ID, int) (relabel.SoundnessCounts, error) {
	return relabel.SoundnessCounts{}, nil
}

func (m *memory) ListExcludedTasks(context.Context, relabel.ID, int, int) ([]relabel.ExcludedTask, error) {
	return nil, nil
}
