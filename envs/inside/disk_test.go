package inside

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestAWalkIsDueWhereTheDiskChangedOrTheLastIsOld(t *testing.T) {
	const limit = 8 << 20
	now := time.Now()
	for what, of := range map[string]struct {
		free       int64
		last, rest time.Time
		due        bool
	}{
		"nothing changed":         {limit, now, now.Add(-1), false},
		"space shrank":            {limit - limit/4, now, now.Add(-1), true},
		"space grew":              {limit + limit/4, now, now.Add(-1), true},
		"it changed by little":    {limit - limit/16, now, now.Add(-1), false},
		"the last is old":         {limit, now.Add(-oldestWalk - 1), now.Add(-1), true},
		"the rest is not over":    {0, now.Add(-oldestWalk - 1), now.Add(1), false},
		"it is almost old":        {limit, now.Add(-oldestWalk), now.Add(-1), false},
		"it was old, and changed": {0, now.Add(-oldestWalk - 1), now.Add(-1), true},
	} {
		d := &diskUse{limit: limit, free: []int64{limit}, last: of.last, rest: of.rest}
		if got := d.due([]int64{of.free}, now); got != of.due {
			t.Errorf("%s: due is %v", what, got)
		}
	}
}

func TestFilesOfEveryTypeCountTheirInode(t *testing.T) {
	began, root := time.Now().Add(-time.Minute), t.TempDir()
	file := filepath.Join(root, "file")
	for _, err := range []error{
		os.WriteFile(file, nil, 0o600), os.Link(file, filepath.Join(root, "again")), os.Mkdir(filepath.Join(root, "folder"), 0o700),
		os.Symlink("file", filepath.Join(root, "link")), syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := written([]string{root}, began, 1<<40); got < 4*inodeBytes {
		t.Errorf("%d bytes, want those of four inodes at least", got)
	}
}
