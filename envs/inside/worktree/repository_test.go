package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"relabel/envs/inside/process"
)

// A git that is killed, because memory or the disk was full, leaves its lock behind.
func TestALockThatAKilledGitLeftIsNotHeeded(t *testing.T) {
	dir := t.TempDir()
	folder, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	for _, sub := range []string{".git/objects/info", ".git/refs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{".git/HEAD": "ref: refs/heads/main\n", "file": "new\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := Open(dir, t.TempDir(), &Bulk{folder})
	processes := process.NewTable(nil)
	for range 2 {
		if _, err := r.Stage(context.Background(), processes, ""); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.bulk.Path("index.lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "other"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
