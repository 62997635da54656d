package server_test

import (
	"context"

	"relabel"
)

// Images of the memory have no checks: the tests of the whole program check them.

func (m *memory) RequestImageChecks(context.Context, relabel.ID) error { return m.broken }

func (m *memory) ListTasksetImages(_ context.Context, set relabel.ID, _ relabel.ImageState, _ relabel.Page) ([]relabel.ImageNeed, string, error) {
	counts := map[string]int{}
	for _, t := range m.tasks {
		if t.TasksetID == set {
			counts[t.Image]++
		}
	}
	var needs []relabel.ImageNeed
	for image, n := range counts {
		needs = append(needs, relabel.ImageNeed{Image: image, Tasks: n})
	}
	return needs, "", m.broken
}

func (m *memory) SumTasksetImages(ctx context.Context, set relabel.ID) (relabel.ImageSums, error) {
	needs, _, err := m.ListTasksetImages(ctx, set, "", relabel.Page{})
	return relabel.SumImages(needs), err
}
