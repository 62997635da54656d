package inside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"relabel/envs/inside/process"
	"relabel/envs/inside/worktree"
	"relabel/envs/wire"
)

// path makes a request's path absolute.
func (s *Server) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(s.workdir, p)
}

// readFile returns at most limit bytes of a regular file, and its whole size.
func (s *Server) readFile(path string, limit int64) ([]byte, int64, error) {
	f, err := process.OpenPlain(s.path(path))
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, min(limit, wire.MaxBody)))
	return data, max(info.Size(), int64(len(data))), err
}

// writeFile replaces or creates a file. If the folder allows it, it writes a temporary file and renames
// it, so that readers never see a part.
func (s *Server) writeFile(path string, data []byte, mode fs.FileMode) error {
	path = s.path(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if mode.Perm() == 0 {
		mode = 0o644
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return process.ErrNotRegular
	case err == nil:
		mode = info.Mode()
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	default:
		return err
	}
	return replace(path, data, mode)
}

func replace(path string, data []byte, mode fs.FileMode) error {
	aside, err := os.CreateTemp(filepath.Dir(path), ".relabel-*")
	if errors.Is(err, fs.ErrPermission) { // the file may be writable although its folder is not
		return os.WriteFile(path, data, mode.Perm())
	}
	if err != nil {
		return err
	}
	defer os.Remove(aside.Name()) // fails once it is renamed
	_, err = aside.Write(data)
	err = errors.Join(err, aside.Chmod(mode), aside.Close())
	if err != nil {
		return err
	}
	return os.Rename(aside.Name(), path)
}

// stat describes a path without following a symlink.
func (s *Server) stat(path string) (*wire.File, error) {
	path = s.path(path)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return describe(path, info), nil
}

func describe(path string, info fs.FileInfo) *wire.File {
	f := &wire.File{Path: path, Mode: info.Mode(), Size: info.Size()}
	if info.Mode()&fs.ModeSymlink != 0 {
		f.Symlink, _ = os.Readlink(path) // it may have been removed meanwhile
	}
	return f
}

// maxListed bounds the entries that list reads.
const maxListed = 100_000

// list returns what is below dir, depth levels deep, without hidden entries, sorted.
func (s *Server) list(dir string, depth, limit int) (files []wire.File, more bool, err error) {
	dir = s.path(dir)
	files, err = listInto(nil, dir, depth)
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(files, func(a, b wire.File) int { return strings.Compare(a.Path, b.Path) })
	return files[:min(len(files), limit)], len(files) > limit, nil
}

func listInto(files []wire.File, dir string, depth int) ([]wire.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return files, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || depth < 1 || len(files) >= maxListed {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		info, err := entry.Info()
		if err != nil {
			continue // removed meanwhile
		}
		files = append(files, *describe(path, info))
		if entry.IsDir() && depth > 1 {
			// A folder that cannot be read is listed without its entries.
			files, _ = listInto(files, path, depth-1)
		}
	}
	return files, nil
}

// isOneOf reports whether err wraps one of the errors.
func isOneOf(err error, errs ...error) bool {
	return slices.ContainsFunc(errs, func(e error) bool { return errors.Is(err, e) })
}

// faultOf classifies the error of a file operation.
func faultOf(err error) wire.Response {
	fault := wire.FaultOther
	switch {
	case errors.Is(err, errDiskFull):
		fault = wire.FaultDisk
	case errors.Is(err, worktree.ErrNoRepository): // before the errors of files that it may wrap
		fault = wire.FaultRepository
	case errors.Is(err, process.ErrTooLarge):
		fault = wire.FaultTooLarge
	case errors.Is(err, fs.ErrNotExist):
		fault = wire.FaultNotExist
	case isOneOf(err, fs.ErrPermission, syscall.EROFS, syscall.ETXTBSY):
		fault = wire.FaultPermission
	case isOneOf(err, process.ErrNotRegular, syscall.EISDIR, syscall.ENXIO):
		fault = wire.FaultNotRegular
	case errors.Is(err, process.ErrNotDirectory):
		fault = wire.FaultNotDirectory
	case isOneOf(err, syscall.ENAMETOOLONG, syscall.ELOOP, // and files of the kernel that refuse to be read or written
		syscall.EINVAL, syscall.EIO, syscall.EBUSY, syscall.ENODEV, syscall.ESRCH, syscall.EOPNOTSUPP):
		fault = wire.FaultPath
	}
	return wire.Response{Fault: fault, Message: fmt.Sprint(err)}
}
