package storetest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheServersFolderIsOfThisUserAlone(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	for range 2 {
		must(t, makeOwn(filepath.Join(shared, "own")))
	}
	trap := filepath.Join(shared, "trap")
	must(t, os.Symlink(filepath.Join(shared, "own"), trap))
	open := filepath.Join(shared, "open")
	must(t, os.Mkdir(open, 0o755))
	must(t, os.Chmod(open, 0o777))
	for _, dir := range []string{trap, open, theirs(t, shared)} {
		if err := makeOwn(dir); err == nil {
			t.Errorf("%s is taken", dir)
		}
	}
}

// theirs returns a folder of another user.
func theirs(t *testing.T, shared string) string {
	t.Helper()
	if os.Getuid() != 0 {
		return "/" // root's
	}
	dir := filepath.Join(shared, "theirs")
	must(t, os.Mkdir(dir, 0o755))
	must(t, os.Chown(dir, 1, 1))
	return dir
}
