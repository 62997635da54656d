package dockertest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// unmountBelow unmounts all file systems below dir, the deepest first.
func unmountBelow(t testing.TB, dir string) {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	var below []string
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			below = append(below, fields[1])
		}
	}
	slices.Sort(below)
	for _, path := range slices.Backward(below) {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", path, err)
		}
	}
}

// SmallDisk makes a folder on a separate disk in memory, of a size such as 700m, for the duration of
// the test. It needs root.
func SmallDisk(t testing.TB, bytes string) string {
	t.Helper()
	dir := filepath.Join(shortDir(t), "disk")
	if err := os.Mkdir(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+bytes); err != nil {
		t.Fatalf("a small disk (it needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
