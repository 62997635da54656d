package taskbuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// dockerfile is the Dockerfile of a recipe; its folder is the context of the build.
type dockerfile struct {
	path string
	key  string // identifies the Dockerfile and all files beside it
	// problem is why nothing can be built from it; "" if something can. The key covers it.
	problem string
}

// dockerfileOf returns the Dockerfile of a recipe. It reads its folder once in a build.
func (m *images) dockerfileOf(r Recipe) dockerfile {
	name := r.Dockerfile
	if !filepath.IsAbs(name) {
		name = filepath.Join(m.options.Folder, name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d, known := m.dockerfiles[name]
	if !known {
		d = readDockerfile(name)
		m.dockerfiles[name] = d
	}
	return d
}

// readDockerfile reads the folder of a Dockerfile.
func readDockerfile(name string) dockerfile {
	d := dockerfile{path: name}
	if _, err := os.Stat(name); err != nil {
		d.problem = err.Error()
	} else if d.key, err = digestOf(filepath.Dir(name)); err != nil {
		d.problem = err.Error()
	}
	if d.problem != "" {
		d.key = keyOf(d.problem)
	}
	return d
}

// digestOf identifies the files of a folder: their names, permissions and contents. It fails if the folder is in a
// repository.
func digestOf(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" {
			return fmt.Errorf("%s is in a repository, so its image could contain later commits: put the Dockerfile into a folder of its own", dir)
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return digestFile(sum, name, filepath.ToSlash(relative), entry)
	})
	return hex.EncodeToString(sum.Sum(nil)[:16]), err
}

// digestFile adds a file to a digest.
func digestFile(sum io.Writer, from, name string, entry fs.DirEntry) error {
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
	size := info.Size()
	if !info.Mode().IsRegular() {
		size = 0
	}
	fmt.Fprintf(sum, "%q %s %d %q\n", name, info.Mode(), size, target)
	if !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	_, err = io.Copy(sum, file)
	return errors.Join(err, file.Close())
}

// base returns the image that a recipe starts from. release is nil if it is not the build's own.
func (m *images) base(ctx context.Context, t *trial) (name string, release func(), refusal *Refusal, err error) {
	if t.recipe.Dockerfile == "" {
		return t.recipe.Image, nil, nil, m.engine.EnsureImage(ctx, t.recipe.Image)
	}
	d := m.dockerfileOf(t.recipe)
	if d.problem != "" {
		return "", nil, &Refusal{Reason: ReasonDockerfile, Detail: d.problem}, nil
	}
	name = sharedName(t.candidate, m.folder.id, "base", d.key)
	release, refusal, err = m.share(ctx, name, d.key, func(labels map[string]string) (*Refusal, error) {
		file, err := t.logFile(t.candidate.ID, "dockerfile")
		if err != nil {
			return nil, err
		}
		err = m.engine.BuildImage(ctx, DockerfileSpec{
			Name: name, Context: tarOf(filepath.Dir(d.path), "/"), Dockerfile: filepath.Base(d.path), Labels: labels, Variables: m.options.Variables, Log: file,
		})
		return refusalOf(errors.Join(err, file.Close()), ReasonDockerfile)
	})
	return name, release, refusal, err
}
