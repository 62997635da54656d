package worktree

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// MaxPath is the longest path that Linux opens in one call, in bytes, below the working tree.
const MaxPath = 4095

// settled is the minimum age of a folder's last change for caching it, because the clock of file systems
// is coarse.
const settled = 100 * time.Millisecond

// TreeScan caches the folders of a working tree. It reads only changed folders again: no command can set
// a folder's change time.
type TreeScan struct{ folders map[string]folderState }

// folderState is the content of a folder.
type folderState struct {
	state   fileState
	folders []string // names of folders below
	special []string // git's own files that git would wait for
	nested  bool     // it has a .git
}

// Scanned is the result of a scan, as paths below the working tree.
type Scanned struct {
	Special []string // files of git's names that git would wait for: see waits
	Nested  []string // .git files and folders below the top
	TooLong []string // folders whose path is longer than git can open
}

// Scan walks the folders of a tree without .git.
func (t *TreeScan) Scan(ctx context.Context, dir string) (found Scanned, err error) {
	dir = Resolved(dir)
	seen := map[string]folderState{}
	queue := []string{""}
	for len(queue) > 0 {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		folder := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		now, ok := t.look(dir, folder)
		if !ok {
			continue // gone, or no folder any more
		}
		seen[folder] = now
		if now.nested && folder != "" {
			found.Nested = append(found.Nested, filepath.Join(folder, ".git"))
		}
		for _, name := range now.special {
			found.Special = append(found.Special, filepath.Join(folder, name))
		}
		for _, name := range now.folders {
			path := filepath.Join(folder, name)
			// The longest name of a file must fit behind it.
			if len(path)+1+syscall.NAME_MAX > MaxPath {
				found.TooLong = append(found.TooLong, path)
				continue
			}
			queue = append(queue, path)
		}
	}
	t.folders = seen
	return found, nil
}

// look returns the content of a folder.
func (t *TreeScan) look(dir, folder string) (folderState, bool) {
	path := filepath.Join(dir, folder)
	var s syscall.Stat_t
	if err := syscall.Lstat(path, &s); err != nil || s.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return folderState{}, false
	}
	state := fileState{s.Dev, s.Ino, s.Size, s.Mtim, s.Ctim}
	if was, known := t.folders[folder]; known && was.state == state {
		return was, true
	}
	now := folderState{}
	entries, err := os.ReadDir(path)
	if err != nil && len(entries) == 0 {
		return now, true // git cannot read it either
	}
	for _, entry := range entries {
		now.add(path, entry)
	}
	if time.Since(time.Unix(s.Ctim.Unix())) > settled {
		now.state = state
	}
	return now, true
}

func (f *folderState) add(dir string, entry fs.DirEntry) {
	switch name := entry.Name(); {
	case name == ".git":
		f.nested = true
	case entry.IsDir():
		f.folders = append(f.folders, name)
	case name == ".gitignore", name == ".gitattributes", name == ".gitmodules":
		if waits(filepath.Join(dir, name), entry.Type()) {
			f.special = append(f.special, name)
		}
	}
}

// waits reports whether opening and reading a path would wait, or never end: it is a pipe, a
// device, or a link to one. Older gits follow links.
func waits(path string, kind fs.FileMode) bool {
	if kind.IsRegular() || kind.IsDir() {
		return false
	}
	if kind&fs.ModeSymlink != 0 {
		info, err := os.Stat(path)
		return err == nil && !info.Mode().IsRegular() && !info.IsDir()
	}
	return true
}

// Resolved is the folder itself where dir is a link to one, which a walk would not enter.
func Resolved(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		return target
	}
	return dir
}
