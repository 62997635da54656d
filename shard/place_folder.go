package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/uuid"

	"relabel"
)

// Modes of an export's folders and files: its owner writes, its group reads, and others
// have nothing, since data sets hold what agents saw. The umask may take more off.
const (
	folderMode = 0o750
	fileMode   = 0o640
)

// folderIDName is the file that says which exports' folder this is: machines that share
// it may build each other's parts, others may not.
const folderIDName = ".folder"

// FolderID returns the id of the exports' folder at root, which it makes where there is
// none.
func FolderID(root string) (string, error) {
	if err := os.MkdirAll(root, folderMode); err != nil {
		return "", folderError(err)
	}
	name := filepath.Join(root, folderIDName)
	aside := fmt.Sprintf("%s.%s", name, uuid.NewString())
	if err := writeFile(aside, []byte(uuid.NewString()+"\n")); err != nil {
		return "", folderError(err)
	}
	err := os.Link(aside, name) // fails where another was faster
	if err = errors.Join(ignore(err, fs.ErrExist), os.Remove(aside)); err != nil {
		return "", folderError(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", folderError(err)
	}
	id, err := uuid.ParseBytes(text[:len(text)-1])
	if err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "%s holds no id: remove it, if no export is running", name).Because(err)
	}
	return id.String(), nil
}

func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// folder is a place on a file system. The files are put into a folder beside the final
// one, which gets its name when the manifest is there.
type folder struct{ final, partial string }

func newFolder(root string, id relabel.ID) *folder {
	final := filepath.Join(root, id.String())
	return &folder{final: final, partial: final + ".partial"}
}

func (f *folder) directory() string { return f.final }

// Close implements io.Closer.
func (f *folder) Close() error { return nil }

// published reports whether the final folder is there: an earlier try ended before the
// database heard of it.
func (f *folder) published() bool {
	_, err := os.Stat(filepath.Join(f.final, manifestName))
	return err == nil
}

// triedName is what ready writes.
const triedName = ".tried"

// ready makes a file beside where the folder is to be.
func (f *folder) ready(context.Context) error {
	root := filepath.Dir(f.final)
	if err := os.MkdirAll(root, folderMode); err != nil {
		return folderError(err)
	}
	// A name of its own: two that try at once must not remove each other's.
	tried, err := os.CreateTemp(root, triedName)
	if err != nil {
		return folderError(err)
	}
	return folderError(errors.Join(tried.Close(), os.Remove(tried.Name())))
}

// put renames the file, which is synced, into the folder.
func (f *folder) put(_ context.Context, path, local string) error {
	if f.published() {
		return nil
	}
	name := filepath.Join(f.partial, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), folderMode); err != nil {
		return folderError(err)
	}
	if err := os.Rename(local, name); err != nil {
		return folderError(err)
	}
	return folderError(syncFolder(filepath.Dir(name)))
}

func (f *folder) size(_ context.Context, path string) (int64, error) {
	info, err := os.Stat(filepath.Join(f.partial, filepath.FromSlash(path)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return -1, nil
	case err != nil:
		return 0, folderError(err)
	}
	return info.Size(), nil
}

func (f *folder) publish(ctx context.Context, manifest string) error {
	if f.published() {
		return nil
	}
	if err := f.put(ctx, manifestName, manifest); err != nil {
		return err
	}
	if err := os.Rename(f.partial, f.final); err != nil {
		return folderError(err)
	}
	return folderError(syncFolder(filepath.Dir(f.final)))
}

// open lets neither .. nor a symbolic link lead out of the folder.
func (f *folder) open(_ context.Context, path string) (relabel.FileReader, error) {
	missing := relabel.Errorf(relabel.CodeNotFound, "the export has no file %.200q", path)
	if !fs.ValidPath(path) {
		return nil, missing
	}
	root, err := os.OpenRoot(f.final)
	if err != nil {
		return nil, missing.Because(err)
	}
	file, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, missing.Because(errors.Join(err, root.Close()))
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, missing.Because(errors.Join(err, file.Close(), root.Close()))
	}
	return file, root.Close()
}

func (f *folder) remove(context.Context) error {
	return folderError(errors.Join(os.RemoveAll(f.partial), os.RemoveAll(f.final)))
}

// folderError gives a file system's error a message that is safe to show.
func folderError(err error) error {
	var e *relabel.Error
	switch {
	case err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return relabel.Errorf(relabel.CodeUnavailable, "no space is left for the export").Because(err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return relabel.Errorf(relabel.CodeUnavailable, "the exports' folder may not be written to").Because(err)
	}
	return relabel.Errorf(relabel.CodeInternal, "the export could not be built").Because(err)
}

// writeFile writes a file aside, syncs it and renames it.
func writeFile(name string, data []byte) error {
	f, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
