package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"relabel"
)

// scratchName is the folder below the exports' root in which files are built.
const scratchName = ".scratch"

// scratch is the folder of one attempt at a step. It is locked while its process is alive.
type scratch struct {
	dir  string
	lock *os.File
}

// scratchFolders returns the glob pattern of an export's scratch folders; id * matches all
// exports.
func scratchFolders(root, id string) string { return filepath.Join(root, scratchName, id+"-*") }

// newScratch creates a scratch folder. It also removes the scratch folders of all crashed
// attempts, at any export, because those may never be repeated.
func newScratch(root string, id relabel.ID) (*scratch, error) {
	below := filepath.Join(root, scratchName)
	if err := os.MkdirAll(below, folderMode); err != nil {
		return nil, folderError(err)
	}
	if err := removeUnlocked(scratchFolders(root, "*")); err != nil {
		return nil, folderError(err)
	}
	for {
		dir, err := os.MkdirTemp(below, id.String()+"-")
		if err != nil {
			return nil, folderError(err)
		}
		lock, err := lockFolder(dir)
		if err == nil && stillThere(dir, lock) {
			return &scratch{dir, lock}, nil
		}
		// Another attempt removed it, taking it for abandoned, before it was locked.
		if err == nil {
			err = lock.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, folderError(err)
		}
	}
}

// stillThere reports whether the name still refers to the locked folder.
func stillThere(dir string, lock *os.File) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(dir)
	return err == nil && os.SameFile(locked, there)
}

// path returns the path of a file in it.
func (s *scratch) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// remove removes the folder and its contents.
func (s *scratch) remove() error {
	return folderError(errors.Join(os.RemoveAll(s.dir), s.lock.Close()))
}

// removeUnlocked removes the folders that match the pattern, except locked ones, which belong
// to running attempts.
func removeUnlocked(pattern string) error {
	left, err := filepath.Glob(pattern)
	for _, name := range left {
		lock, locked := lockFolder(name)
		switch {
		case errors.Is(locked, syscall.EWOULDBLOCK), errors.Is(locked, fs.ErrNotExist): // in use, or removed meanwhile
		case locked != nil:
			err = errors.Join(err, locked)
		default:
			err = errors.Join(err, os.RemoveAll(name), lock.Close())
		}
	}
	return err
}

// lockFolder locks a folder until the file is closed or the process dies. It fails with
// EWOULDBLOCK if the folder is locked already.
func lockFolder(name string) (*os.File, error) {
	folder, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	return folder, nil
}
