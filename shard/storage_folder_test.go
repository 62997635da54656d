package shard

import (
	"io/fs"
	"path/filepath"
	"testing"

	"relabel"
)

// What an export writes is its owner's and its group's, whatever the umask.
func TestOthersReadNothingOfAnExport(t *testing.T) {
	s := newFixedStore(someTrajectory(1, 0, 7))
	s.newExport("one", relabel.ExportSelection{Aggregated: true})
	e := export(t, s, newTestExporter(t, s))
	files := 0
	must(t, filepath.WalkDir(e.Directory, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		allowed := fs.FileMode(fileMode)
		if d.IsDir() {
			allowed = folderMode
		}
		if extra := info.Mode().Perm() &^ allowed; extra != 0 {
			t.Errorf("%s has the mode %s", name, info.Mode())
		}
		files++
		return nil
	}))
	if files < 4 {
		t.Errorf("%d files were found", files)
	}
}
