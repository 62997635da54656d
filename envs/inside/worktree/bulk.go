package worktree

import (
	"fmt"
	"os"
	"path/filepath"
)

// Bulk is a folder on the container's disk for large files: objects and index of sandboxd's git,
// standard streams. Commands cannot enter it, but an agent that is root can rename it, so it is accessed
// through an open descriptor. It is never empty, because an empty folder could be removed.
type Bulk struct{ Folder *os.File }

// OpenBulk makes a folder below dir.
func OpenBulk(dir string) (*Bulk, error) {
	path, err := os.MkdirTemp(dir, ".relabel-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for large files: %w", err)
	}
	if err := os.WriteFile(filepath.Join(path, "keep"), nil, 0o600); err != nil {
		return nil, err
	}
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Bulk{folder}, nil
}

// Path is the path of a file in the folder for this process, also after a rename.
func (b *Bulk) Path(name string) string {
	return filepath.Join(fmt.Sprintf("/proc/self/fd/%d", b.Folder.Fd()), name)
}

// childPath is the path for a program that has the folder open as file 3.
func (b *Bulk) childPath(name string) string { return filepath.Join("/proc/self/fd/3", name) }
