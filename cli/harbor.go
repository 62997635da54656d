package cli

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relabel"
	"relabel/tasks"
	"relabel/tasks/harbor"
)

// mostNamed is how many folders of a kind are named one by one.
const mostNamed = 20

// maxSet bounds what is unpacked of a set of task folders, in bytes.
const maxSet = 4 << 30

// openHarbor opens a folder, tar file or zip file with tasks of Harbor; nil if it has none. Close removes what was
// unpacked.
func openHarbor(path string) (set fs.FS, close func() error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	close = func() error { return nil }
	switch name := strings.ToLower(path); {
	case info.IsDir():
		set = os.DirFS(path)
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".tar"), strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		dir, err := os.MkdirTemp("", "relabel-tasks-")
		if err != nil {
			return nil, nil, err
		}
		close = func() error { return os.RemoveAll(dir) }
		if err := unpackSet(path, dir); err != nil {
			return nil, nil, errors.Join(relabel.Errorf(relabel.CodeInvalid, "%s cannot be unpacked: %v", path, err), close())
		}
		set = os.DirFS(dir)
	default:
		return nil, nil, nil
	}
	if !harbor.IsSet(set) {
		return nil, nil, close()
	}
	return set, close, nil
}

// unpackSet unpacks the plain files of a tar or zip file into an empty folder.
func unpackSet(path, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	left := int64(maxSet)
	err = eachEntry(path, func(name string, mode fs.FileMode, content io.Reader) error {
		name = filepath.Clean(name)
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%q leaves the folder", name)
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600|mode.Perm()&0o111)
		if err != nil {
			return err
		}
		n, err := io.Copy(file, io.LimitReader(content, left+1))
		if left -= n; err == nil && left < 0 {
			err = fmt.Errorf("it has more than %d GiB of files", maxSet>>30)
		}
		return errors.Join(err, file.Close())
	})
	return errors.Join(err, root.Close())
}

// eachEntry passes the plain files of a tar or zip file to each.
func eachEntry(path string, each func(name string, mode fs.FileMode, content io.Reader) error) error {
	if strings.HasSuffix(strings.ToLower(path), ".zip") {
		return eachZipped(path, each)
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var in io.Reader = file
	if !strings.HasSuffix(strings.ToLower(path), ".tar") {
		if in, err = gzip.NewReader(file); err != nil {
			return err
		}
	}
	for entries := tar.NewReader(in); ; {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
		case tar.TypeReg:
			if err := each(header.Name, header.FileInfo().Mode(), entries); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%q is not a plain file: give the unpacked folder", header.Name)
		}
	}
}

// eachZipped is eachEntry of a zip file.
func eachZipped(path string, each func(name string, mode fs.FileMode, content io.Reader) error) error {
	zipped, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer zipped.Close()
	for _, entry := range zipped.File {
		mode := entry.Mode()
		switch {
		case mode.IsDir():
			continue
		case !mode.IsRegular():
			return fmt.Errorf("%q is not a plain file: give the unpacked folder", entry.Name)
		}
		content, err := entry.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(each(entry.Name, mode, content), content.Close()); err != nil {
			return err
		}
	}
	return nil
}

// harborLines converts tasks of Harbor into lines of relabel's own format, and says on standard error what is not
// used and what to do. Without skip, one refused folder refuses all.
func harborLines(set fs.FS, skip bool) ([]byte, error) {
	folders, err := harbor.Read(set)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	var refused, networked, downloading []string
	unused := map[string]int{}
	for _, f := range folders {
		if f.Refused != nil {
			refused = append(refused, f.String())
			continue
		}
		for _, field := range f.Unused {
			unused[field]++
		}
		if f.Task.Terminal.Network {
			networked = append(networked, f.Task.InstanceID)
		}
		if f.Downloads != "" {
			downloading = append(downloading, fmt.Sprintf("%s (%s)", f.Task.InstanceID, f.Downloads))
		}
		if err := tasks.WriteTerminal(&lines, f.Task); err != nil {
			return nil, err
		}
	}
	if len(refused) > 0 && (!skip || len(refused) == len(folders)) {
		return nil, relabel.Errorf(relabel.CodeInvalid, "%d of %d folders cannot be used:\n%s", len(refused), len(folders), strings.Join(firstOf(refused), "\n"))
	}
	warnOf("skipped", refused)
	for _, field := range slices.Sorted(maps.Keys(unused)) {
		warn("not used: %s (%s)", field, counted(unused[field], "task"))
	}
	if len(networked) > 0 {
		warn("%d of %d tasks allow a network, which sandboxes do not have: `relabel tasks validate` shows which need it", len(networked), len(folders)-len(refused))
	}
	warnOf("test.sh downloads something, so that its reward is probably 0", downloading)
	if builds := harbor.Images(folders); len(builds) > 0 {
		warn("images to build from a Dockerfile: %d; each engine that lacks one needs `relabel tasks build-images` on this folder", len(builds))
	}
	return lines.Bytes(), nil
}

// warn prints a line on standard error.
func warn(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// warnOf prints what concerns some tasks, with their names, on standard error; nothing without any.
func warnOf(what string, names []string) {
	if len(names) > 0 {
		warn("%s (%d):\n  %s", what, len(names), strings.Join(firstOf(names), "\n  "))
	}
}

// firstOf returns the first names, and how many are left out.
func firstOf(names []string) []string {
	if len(names) <= mostNamed {
		return names
	}
	return append(slices.Clone(names[:mostNamed]), fmt.Sprintf("and %d more", len(names)-mostNamed))
}
