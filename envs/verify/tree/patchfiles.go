package tree

import (
	"fmt"
	"strings"

	"relabel"
	"relabel/gitdiff"
)

// patchFile is a path that a task's own patch touches. The paths that a submission touches come
// from git after it was applied: see Reading.
type patchFile struct {
	Path    string // relative to the repository
	Deleted bool   // the patch removes it
}

// CheckPatches returns an error if gitdiff cannot read one of the task's patches, although git may.
// Import refuses such tasks, but earlier versions may have stored one.
func CheckPatches(task relabel.Task) error {
	for i, patch := range []string{task.Patch, task.TestPatch} {
		if strings.TrimSpace(patch) == "" {
			continue
		}
		if _, err := gitdiff.Parse(patch); err != nil {
			return fmt.Errorf("the task's %s %w", []string{"patch", "test_patch"}[i], err)
		}
	}
	return nil
}

// PatchFiles lists the paths that a task's own patch touches, both sides of a rename, each
// once and in order.
func PatchFiles(patch string) []patchFile {
	changes, _ := gitdiff.Parse(patch) // CheckPatches reports the error
	var files []patchFile
	seen := map[string]int{} // path → its index in files
	touch := func(name string, deleted bool) {
		if at, ok := seen[name]; ok {
			files[at].Deleted = deleted
		} else if name != "" {
			seen[name] = len(files)
			files = append(files, patchFile{name, deleted})
		}
	}
	for _, c := range changes {
		touch(c.Old, c.New == "")
		touch(c.New, false)
	}
	return files
}

// PatchPaths lists the paths of PatchFiles.
func PatchPaths(patch string) []string {
	var paths []string
	for _, f := range PatchFiles(patch) {
		paths = append(paths, f.Path)
	}
	return paths
}
