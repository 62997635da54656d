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

// TestExportBenchmarksCountsTheTasksThatEachReserves: exports say what their tasks were compared with.
func TestExportBenchmarksCountsTheTasksThatEachReserves(t *testing.T) {
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 3)
	var tasks []relabel.ID
	for _, tr := range d.Trajectories {
		tasks = append(tasks, tr.TaskID)
	}
	got, err := s.ExportBenchmarks(ctx, tasks)
	if err != nil || len(got) > 0 {
		t.Fatalf("without any: %v, %v", got, err)
	}
	task, err := s.FindTask(ctx, tasks[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, entries := range map[string][]string{"b-list": {task.InstanceID, "other/repo"}, "a-list": {"nothing-here"}} {
		if err := s.CreateExclusion(ctx, relabel.Exclusion{ID: relabel.NewID(), Name: name, Entries: len(entries)}, entries); err != nil {
			t.Fatal(err)
		}
	}
	want := []relabel.ProvenanceBenchmark{{Name: "a-list", Kind: relabel.ProvenanceOfExclusions, Size: 1}, {Name: "b-list", Kind: relabel.ProvenanceOfExclusions, Size: 2, Exported: 1}}
	if got, err = s.ExportBenchmarks(ctx, tasks); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestExportImagesHasTheDigestsThatChecksFound: those of the images that were checked.
func TestExportImagesHasTheDigestsThatChecksFound(t *testing.T) {
	ctx := context.Background()
	s := storetest.New(t)
	d := storetest.Seed(t, s, 1)
	if err := s.RequestImageChecks(ctx, d.Run.TasksetID); err != nil {
		t.Fatal(err)
	}
	images, err := s.ClaimImageChecks(ctx, 10, time.Minute)
	if err != nil || len(images) == 0 {
		t.Fatal(images, err)
	}
	if err := s.FinishImageCheck(ctx, images[0], relabel.ImageFacts{State: relabel.ImagePresent, Digest: "sha256:ab"}); err != nil {
		t.Fatal(err)
	}
	got, err := s.ExportImages(ctx, []string{images[0], "another:latest"})
	if want := map[string]string{images[0]: "sha256:ab"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
