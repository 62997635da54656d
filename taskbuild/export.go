package taskbuild

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// copyExclude copies the list of ignored files that is not in the work tree.
func copyExclude(gitDir, to string) error {
	text, err := ReadExclude(gitDir)
	if err != nil || text == nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(to, ".git", "info"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, ".git", "info", "exclude"), text, 0o644)
}

// ReadExclude returns the file info/exclude of a git directory; nil if it has none. A link could lead to any file of
// this machine and is not followed.
func ReadExclude(gitDir string) ([]byte, error) {
	name := filepath.Join(gitDir, "info", "exclude")
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// tarOf returns a function that writes a folder as a tar archive whose files are owned by root and lie
// below workdir.
func tarOf(dir, workdir string) func(io.Writer) error {
	return func(w io.Writer) error {
		out := tar.NewWriter(w)
		err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(dir, name)
			if err != nil {
				return err
			}
			inside := path.Join(workdir, filepath.ToSlash(relative))[1:]
			if inside == "" { // workdir is /
				return nil
			}
			return addFile(out, name, inside, entry)
		})
		return errors.Join(err, out.Close())
	}
}

// addFile writes one file into an archive.
func addFile(out *tar.Writer, from, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(from); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = name, 0, 0, "root", "root"
	if info.IsDir() {
		header.Name += "/"
	}
	if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}
