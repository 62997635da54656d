package shard

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"relabel"
)

// A part that another machine builds while an export is cancelled and cleared must not
// leave the file that it was at.
func TestAPartThatContinuesAfterAnExportWasClearedLeavesNothing(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	s.export.Form.Divide = 2
	x := newTestExporter(t, s)
	ctx := context.Background()
	step := func(step relabel.ExportStep) {
		t.Helper()
		if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: step}); err != nil {
			t.Fatal(err)
		}
	}
	step(relabel.CutExport)
	s.saved = func() {
		s.saved = nil
		s.export.State = relabel.ExportCancelled
		step(relabel.ClearExport)
		if left, err := os.ReadDir(x.Root); err != nil || len(left) != 1 { // the scratch of the part that goes on
			t.Errorf("%v, %v", left, err)
		}
	}
	step(relabel.BuildPart)
	if left := seen(t, x); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
}

// Two workers may do the same: when one has ended the export, the other's part is no failure.
func TestAPartThatContinuesAfterItsExportIsDoneDoesNotFail(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	x := newTestExporter(t, s)
	ctx := context.Background()
	if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.CutExport}); err != nil {
		t.Fatal(err)
	}
	s.saved = func() {
		s.saved = nil
		export(t, s, x)
	}
	if err := x.Step(ctx, relabel.ExportJob{ExportID: s.export.ID, Step: relabel.BuildPart}); err != nil {
		t.Error(err)
	}
	if s.export.State != relabel.ExportDone || len(filesBelow(t, s.export.Directory)) < 3 {
		t.Errorf("%s, %d files", s.export.State, len(filesBelow(t, s.export.Directory)))
	}
}

func TestTheScratchOfACrashIsRemovedWhenItsExportIsClearedOrAnotherIsBuilt(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 5))
	x := newTestExporter(t, s)
	crash := func(id relabel.ID) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(x.Root, scratchName, id.String()+"-1", "messages"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	crash(s.export.ID)
	s.export.State = relabel.ExportCancelled
	if err := x.Step(context.Background(), relabel.ExportJob{ExportID: s.export.ID, Step: relabel.ClearExport}); err != nil {
		t.Fatal(err)
	}
	if left := seen(t, x); len(left) != 0 {
		t.Errorf("%v was left behind", left)
	}
	crash(fixedID("another export"))
	s.export.State = relabel.ExportQueued
	export(t, s, x)
	if left := seen(t, x); len(left) != 1 {
		t.Errorf("%v is in the exports' folder", left)
	}
}
