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

// Modes of an export's folders and files: the owner writes, the group reads, others have no
// access, since data sets contain what agents saw. The umask may restrict them further.
const (
	folderMode = 0o750
	fileMode   = 0o640
)

// folderIDName is the file that identifies an exports' folder: machines that share the folder
// may build each other's parts, other machines may not.
const folderIDName = ".folder"

// FolderID returns the ID of the exports' folder at root. It creates the folder and the ID if
// needed.
func FolderID(root string) (string, error) {
	if err := os.MkdirAll(root, folderMode); err != nil {
		return "", folderError(err)
	}
	name := filepath.Join(root, folderIDName)
	aside := fmt.Sprintf("%s.%s", name, uuid.NewString())
	if err := writeFile(aside, []byte(uuid.NewString()+"\n")); err != nil {
		return "", folderError(err)
	}
	err := os.Link(aside, name) // fails if another process was faster
	if err = errors.Join(ignore(err, fs.ErrExist), os.Remove(aside)); err != nil {
		return "", folderError(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", folderError(err)
	}
	id, err := uuid.ParseBytes(text[:len(text)-1])
	if err != nil {
		return "", relabel.Errorf(relabel.CodeInvalid, "%s does not contain a valid ID: remove it while no export is running", name).Because(err)
	}
	return id.String(), nil
}

func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// folder is storage on a file system. Files are added to a folder beside the final one, which
// is renamed once the manifest is written.
type folder struct{ final, partial string }

func newFolder(root string, id relabel.ID) *folder {
	final := filepath.Join(root, id.String())
	return &folder{final: final, partial: final + ".partial"}
}

func (f *folder) directory() string { return f.final }

func (*folder) release() error { return nil }

// published reports whether the final folder exists: an earlier attempt may have ended before
// it updated the database.
func (f *folder) published() bool {
	_, err := os.Stat(filepath.Join(f.final, manifestName))
	return err == nil
}

// triedName is the name of the test file.
const triedName = ".tried"

// checkWritable creates and removes a file beside the final folder.
func (f *folder) checkWritable(context.Context) error {
	root := filepath.Dir(f.final)
	if err := os.MkdirAll(root, folderMode); err != nil {
		return folderError(err)
	}
	// The name is unique: concurrent tests must not remove each other's files.
	tried, err := os.CreateTemp(root, triedName)
	if err != nil {
		return folderError(err)
	}
	return folderError(errors.Join(tried.Close(), os.Remove(tried.Name())))
}

// put renames the file, which is synced already, into the folder.
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

func (f *folder) drop(_ context.Context, path string) error {
	return folderError(ignore(os.Remove(filepath.Join(f.partial, filepath.FromSlash(path))), fs.ErrNotExist))
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

// open rejects paths that leave the folder through .. or a symbolic link.
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

// folderError converts a file system error into one that is safe to show.
func folderError(err error) error {
	var e *relabel.Error
	switch {
	case err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return relabel.Errorf(relabel.CodeUnavailable, "no disk space left for the export").Because(err)
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		return relabel.Errorf(relabel.CodeUnavailable, "the exports' folder is not writable").Because(err)
	}
	return relabel.Errorf(relabel.CodeInternal, "the export could not be built").Because(err)
}

// writeFile writes a temporary file, syncs it and renames it to name.
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
