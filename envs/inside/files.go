package inside

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
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

// writeFile replaces or creates a file. It is written aside and renamed where the
// folder allows it, so that no reader sees half of it.
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
	if errors.Is(err, fs.ErrPermission) { // the file may be writable in a folder that is not
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

// stat describes a path itself, be it a symlink.
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
		f.Symlink, _ = os.Readlink(path) // gone since: it has none
	}
	return f
}

// maxListed bounds what list looks at, so that a folder of millions ends.
const maxListed = 100_000

// list returns what is below dir, depth levels deep, without hidden entries, sorted.
func (s *Server) list(dir string, depth, limit int) (files []wire.File, more bool, err error) {
	dir = s.path(dir)
	files, err = listInto(nil, dir, depth)
	if err != nil {
		return nil, false, err
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	if len(files) > limit {
		return files[:limit], true, nil
	}
	return files, false, nil
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
			continue // removed since
		}
		files = append(files, *describe(path, info))
		if entry.IsDir() && depth > 1 {
			// A folder below that may not be read shows without its entries.
			files, _ = listInto(files, path, depth-1)
		}
	}
	return files, nil
}

// pathErrors are what a path is refused with for what it is: too long, a ring of links,
// or one of the kernel's files that cannot be read or written so.
var pathErrors = []error{
	syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EINVAL, syscall.EIO, syscall.EBUSY, syscall.ENODEV, syscall.ESRCH, syscall.EOPNOTSUPP,
}

// faultOf says what kind of error a file operation failed with.
func faultOf(err error) wire.Response {
	fault := wire.FaultOther
	switch {
	case errors.Is(err, errDiskFull):
		fault = wire.FaultDisk
	case errors.Is(err, worktree.ErrNoRepository): // whatever file that was found by
		fault = wire.FaultRepository
	case errors.Is(err, process.ErrTooLarge):
		fault = wire.FaultTooLarge
	case errors.Is(err, fs.ErrNotExist):
		fault = wire.FaultNotExist
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ETXTBSY):
		fault = wire.FaultPermission
	case errors.Is(err, process.ErrNotRegular), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENXIO):
		fault = wire.FaultNotRegular
	case errors.Is(err, process.ErrNotDirectory):
		fault = wire.FaultNotDirectory
	case slices.ContainsFunc(pathErrors, func(e error) bool { return errors.Is(err, e) }):
		fault = wire.FaultPath
	}
	return wire.Response{Fault: fault, Message: fmt.Sprint(err)}
}
