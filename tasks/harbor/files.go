package harbor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"relabel"
	"relabel/tasks"
)

// maxContext bounds the files of an environment that an image is built from, in bytes.
const maxContext = 1 << 30

// imageOf is the image of a task: that of its settings, or one that is built from its environment and named by the
// content of that.
func imageOf(dir fs.FS, named string) (image string, build bool, err error) {
	for _, compose := range []string{"environment/docker-compose.yaml", "environment/docker-compose.yml"} {
		if _, err := fs.Stat(dir, compose); err == nil {
			return "", false, refused(compose, "tasks of several containers are not supported")
		}
	}
	_, err = fs.Stat(dir, dockerfile)
	hasDockerfile := err == nil
	switch {
	case named != "":
		if !hasDockerfile && hasFiles(dir, environmentDir) {
			return "", false, refused(environmentDir, "has files but no Dockerfile: Harbor would copy them into the container of environment.docker_image, which is not supported; remove environment.docker_image and add a Dockerfile")
		}
		return named, false, nil
	case !hasDockerfile:
		return "", false, refused(dockerfile, "is missing, and environment.docker_image too")
	}
	digest := sha256.New()
	if err := WriteContext(digest, dir); err != nil {
		return "", false, refused(environmentDir, "%v", err)
	}
	return relabel.LocalImages + "harbor:" + hex.EncodeToString(digest.Sum(nil))[:24], true, nil
}

// hasFiles reports whether a folder has any entry.
func hasFiles(dir fs.FS, name string) bool {
	entries, err := fs.ReadDir(dir, name)
	return err == nil && len(entries) > 0
}

// WriteContext writes the environment of a task folder as a tar file, the same for the same contents and modes.
func WriteContext(w io.Writer, task fs.FS) error {
	env, err := fs.Sub(task, environmentDir)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	left := int64(maxContext)
	err = eachFile(env, true, func(name string, mode fs.FileMode, link string, content io.Reader, size int64) error {
		if left -= size; left < 0 {
			return fmt.Errorf("has more than %d MiB of files", maxContext>>20)
		}
		return writeFile(out, name, mode, link, content, size)
	})
	return errors.Join(err, out.Close())
}

// pack makes the archive of a folder of a task; an empty one without the folder. The script must be in it.
func pack(dir fs.FS, name, script string) (relabel.Archive, error) {
	folder, err := fs.Sub(dir, name)
	if err != nil {
		return relabel.Archive{}, refused(name, "%v", err)
	}
	if _, err := fs.Stat(dir, name); errors.Is(err, fs.ErrNotExist) {
		return relabel.Archive{}, nil
	}
	var buffer bytes.Buffer
	packed := gzip.NewWriter(&buffer)
	out := tar.NewWriter(packed)
	left := int64(relabel.MaxUnpacked)
	err = eachFile(folder, false, func(name string, mode fs.FileMode, _ string, content io.Reader, size int64) error {
		if left -= size; left < 0 {
			return fmt.Errorf("has more than %d MiB of files", relabel.MaxUnpacked>>20)
		}
		return writeFile(out, name, mode, "", content, size)
	})
	err = errors.Join(err, out.Close(), packed.Close())
	if err == nil {
		err = tasks.CheckArchive(buffer.Bytes(), script)
	}
	if err != nil {
		return relabel.Archive{}, refused(name, "%v", err)
	}
	return relabel.NewArchive(buffer.Bytes()), nil
}

// eachFile passes the plain files of a folder to each, in the order of their paths, and symbolic links if they may
// be there. Compiled files of Python are left out.
func eachFile(dir fs.FS, links bool, each func(name string, mode fs.FileMode, link string, content io.Reader, size int64) error) error {
	return fs.WalkDir(dir, ".", func(p string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "__pycache__":
			return fs.SkipDir
		case entry.IsDir(), entry.Name() == ".harborignore":
			return nil
		case entry.Type()&fs.ModeSymlink != 0 && links:
			target, err := fs.ReadLink(dir, p)
			if err == nil && (path.IsAbs(target) || strings.HasPrefix(path.Join(path.Dir(p), target), "..")) {
				err = fmt.Errorf("%s is a link that leaves the folder", p)
			}
			if err != nil {
				return err
			}
			return each(p, 0o777, target, nil, 0)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is not a plain file", p)
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		file, err := dir.Open(p)
		if err != nil {
			return err
		}
		return errors.Join(each(p, info.Mode().Perm(), "", file, info.Size()), file.Close())
	})
}

// writeFile adds a file to a tar file, without owner and times.
func writeFile(out *tar.Writer, name string, mode fs.FileMode, link string, content io.Reader, size int64) error {
	header := &tar.Header{Name: name, Mode: 0o644, Size: size, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
	if mode&0o111 != 0 {
		header.Mode = 0o755
	}
	if link != "" {
		header.Typeflag, header.Linkname = tar.TypeSymlink, link
	}
	if err := out.WriteHeader(header); err != nil || content == nil {
		return err
	}
	_, err := io.CopyN(out, content, size)
	return err
}
