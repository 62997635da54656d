package shard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"relabel"
)

// scratchName is the folder below the exports' root in which files are built before they
// are put into their export.
const scratchName = ".scratch"

// scratch is the folder of one try at a step. It is locked while its process lives.
type scratch struct {
	dir  string
	lock *os.File
}

// scratchFolders is the pattern of an export's scratch folders; * for all exports.
func scratchFolders(root, id string) string { return filepath.Join(root, scratchName, id+"-*") }

// newScratch makes a scratch folder, and removes those that crashed tries left, at whichever
// export: theirs may never be tried again.
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
		// Another try took it for a dead one's before it was locked.
		if err == nil {
			err = lock.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, folderError(err)
		}
	}
}

// stillThere reports whether the folder that was locked is the one that has the name.
func stillThere(dir string, lock *os.File) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(dir)
	return err == nil && os.SameFile(locked, there)
}

// path returns the place of a file below it.
func (s *scratch) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// remove removes it with all that is left in it.
func (s *scratch) remove() error {
	return folderError(errors.Join(os.RemoveAll(s.dir), s.lock.Close()))
}

// removeUnlocked removes the folders that fit the pattern, except those that are locked:
// they belong to a try that is alive.
func removeUnlocked(pattern string) error {
	left, err := filepath.Glob(pattern)
	for _, name := range left {
		lock, locked := lockFolder(name)
		switch {
		case errors.Is(locked, syscall.EWOULDBLOCK), errors.Is(locked, fs.ErrNotExist): // alive, or at its end meanwhile
		case locked != nil:
			err = errors.Join(err, locked)
		default:
			err = errors.Join(err, os.RemoveAll(name), lock.Close())
		}
	}
	return err
}

// lockFolder locks a folder until the file is closed or its process dies. It fails with
// EWOULDBLOCK where another holds the lock.
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
