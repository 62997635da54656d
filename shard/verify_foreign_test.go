package shard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

// TestWhatTrainingLeavesBesideTheRowsIsNoProblem: in folders of its own, but not where a loader would take it for rows.
func TestWhatTrainingLeavesBesideTheRowsIsNoProblem(t *testing.T) {
	t.Parallel()
	folder, student := testStudent(t)
	dir := exportFor(t, relabel.ExportForm{For: "axolotl"}, folder, 3)
	leave := func(name string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, []byte("x"), 0o640))
	}
	for _, name := range []string{"last_run_prepared/abc/data.arrow", "OUT/checkpoint-1/model.safetensors", "__pycache__/rows.pyc"} {
		leave(name)
	}
	for _, p := range check(t, dir, student).Problems {
		t.Error(p)
	}
	for _, name := range []string{"linear/more.parquet", "packed/00000.idx.parquet", "rows.parquet"} {
		leave(name)
	}
	problems := check(t, dir, student).Problems
	if len(problems) != 3 {
		t.Errorf("%d problems", len(problems))
	}
	for _, p := range problems {
		if !strings.Contains(p.String(), "is not in the manifest") {
			t.Error(p)
		}
	}
}
