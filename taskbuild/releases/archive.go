package releases

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"relabel"
)

// Bounds of an archive, far above those of packages.
const (
	maxFiles = 100_000
	maxBytes = 1 << 30 // unpacked
)

// place returns where a file of an archive belongs in the source tree; false for one that is left out.
type place func(name string) (string, bool)

// withoutFirstFolder is the place of files whose archive has all of them in one folder.
func withoutFirstFolder(name string) (string, bool) {
	_, rest, ok := strings.Cut(name, "/")
	return rest, ok && rest != ""
}

// unpack unpacks an archive, a zip file or a gzipped tar file, into an existing folder. It writes nothing
// outside of the folder, and refuses archives with more than maxFiles files or maxBytes bytes, or with files that
// are neither regular files nor links. Folders and files named .git are left out.
func unpack(archive, into string, to place) error {
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	file, err := os.Open(archive)
	if err != nil {
		return errors.Join(err, root.Close())
	}
	u := &unpacker{root: root, to: to}
	err = u.unpack(file)
	return errors.Join(err, file.Close(), root.Close())
}

// unpacker writes the files of one archive.
type unpacker struct {
	root  *os.Root
	to    place
	files int
	bytes int64
}

// unpack tells zip files from gzipped tar files by their first bytes.
func (u *unpacker) unpack(file *os.File) error {
	start := make([]byte, 2)
	if _, err := file.ReadAt(start, 0); err != nil {
		return notReadable(err)
	}
	if bytes.Equal(start, []byte("PK")) {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		return u.unzip(file, info.Size())
	}
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return notReadable(err)
	}
	return u.untar(tar.NewReader(unzipped))
}

func notReadable(cause error) error {
	return relabel.Errorf(relabel.CodeInvalid, "the archive is neither a zip file nor a gzipped tar file, or it is damaged").Because(cause)
}

func (u *unpacker) untar(in *tar.Reader) error {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return notReadable(err)
		}
		if h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name, ok, err := u.next(h.Name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := u.fromTar(in, h, name); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

// fromTar writes one file of a tar archive.
func (u *unpacker) fromTar(in io.Reader, h *tar.Header, name string) error {
	switch h.Typeflag {
	case tar.TypeReg:
		return u.write(name, h.FileInfo().Mode(), in)
	case tar.TypeSymlink:
		return u.root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		target, ok := u.to(path.Clean(h.Linkname))
		if !ok {
			return relabel.Errorf(relabel.CodeInvalid, "is a hard link to %s, which is left out", h.Linkname)
		}
		return u.root.Link(target, name)
	}
	return relabel.Errorf(relabel.CodeInvalid, "is a special file")
}

func (u *unpacker) unzip(file io.ReaderAt, size int64) error {
	in, err := zip.NewReader(file, size)
	if err != nil {
		return notReadable(err)
	}
	for _, f := range in.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		name, ok, err := u.next(f.Name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := u.fromZip(f, name); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

// fromZip writes one file of a zip archive.
func (u *unpacker) fromZip(f *zip.File, name string) error {
	in, err := f.Open()
	if err != nil {
		return notReadable(err)
	}
	defer in.Close()
	if f.Mode()&fs.ModeSymlink == 0 {
		return u.write(name, f.Mode(), in)
	}
	target, err := io.ReadAll(io.LimitReader(in, 4096))
	if err != nil {
		return notReadable(err)
	}
	return u.root.Symlink(string(target), name)
}

// next counts a file, makes its folder, and removes an earlier file of the same name. ok is false for a
// file that is left out.
func (u *unpacker) next(raw string) (name string, ok bool, err error) {
	if u.files++; u.files > maxFiles {
		return "", false, relabel.Errorf(relabel.CodeInvalid, "the archive has more than %d files", maxFiles)
	}
	parts := strings.Split(raw, "/")
	if slices.Contains(parts, "..") {
		return "", false, relabel.Errorf(relabel.CodeInvalid, "the archive has the file %s, which may be outside of its folder", raw)
	}
	name, ok = u.to(path.Clean(raw))
	if !ok || slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, ".git") }) {
		return "", false, nil // git has no such files either
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return "", false, err
	}
	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	return name, true, nil
}

// write writes a regular file. Of its mode only whether it is executable matters, as for git.
func (u *unpacker) write(name string, mode fs.FileMode, in io.Reader) error {
	perm := fs.FileMode(0o644)
	if mode&0o100 != 0 {
		perm = 0o755
	}
	out, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxBytes-u.bytes+1))
	if u.bytes += n; err == nil && u.bytes > maxBytes {
		err = relabel.Errorf(relabel.CodeInvalid, "the archive has more than %d MiB", maxBytes>>20)
	}
	return errors.Join(err, out.Close())
}
