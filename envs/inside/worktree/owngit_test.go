package worktree

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A copied loader does not look for libraries that an agent had preloaded into every program.
func TestACopiedLoaderPreloadsNothing(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	before := []byte("\x7fELF…\x00" + preloadFile + "rest\x00" + preloadFile)
	if err := os.WriteFile(from, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyLoader(from, to); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if len(after) != len(before) || bytes.Contains(after, []byte("/etc/ld.so.preload")) || !bytes.Contains(after, []byte("rest")) {
		t.Errorf("the copy is %q", after)
	}
}
