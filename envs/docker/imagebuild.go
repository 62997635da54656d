package docker

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"relabel"
)

// dockerfileTime bounds the build of a Dockerfile.
const dockerfileTime = time.Hour

// BuildDockerfile builds an image from a Dockerfile; its context is the Dockerfile's folder. A failed build
// is a *BuildError.
func (h *Host) BuildDockerfile(ctx context.Context, name, file string, labels, variables map[string]string, log io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, dockerfileTime)
	defer cancel()
	in, out := io.Pipe()
	go func() { out.CloseWithError(tarFolder(out, filepath.Dir(file))) }()
	defer in.Close()
	arguments := map[string]*string{}
	for name, value := range variables {
		arguments[name] = &value
	}
	answer, err := h.client.ImageBuild(ctx, in, build.ImageBuildOptions{
		Tags: []string{name}, Dockerfile: filepath.Base(file), Labels: labels, BuildArgs: arguments, Remove: true, ForceRemove: true, Version: build.BuilderV1,
	})
	if err != nil {
		return buildFailed(ctx, file, err)
	}
	defer answer.Body.Close()
	tail := &tailWriter{to: log}
	for lines := json.NewDecoder(answer.Body); ; {
		var line struct{ Stream, Error string }
		if err := lines.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return buildFailed(ctx, file, err)
		}
		if _, err := io.WriteString(tail, line.Stream+line.Error); err != nil {
			return err
		}
		if line.Error != "" {
			return &BuildError{Exit: 1, Output: tail.String()}
		}
	}
}

// buildFailed classifies an error of a build: a Dockerfile that cannot be read is a BuildError.
func buildFailed(ctx context.Context, file string, err error) error {
	if errdefs.IsInvalidArgument(err) {
		return &BuildError{Exit: 1, Output: file + ": " + err.Error()}
	}
	return failed(ctx, "build "+file, err)
}

// tarFolder writes the files of a folder as a tar archive.
func tarFolder(w io.Writer, dir string) error {
	out := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".git" {
			return relabel.Errorf(relabel.CodeInvalid, "%s is in a repository, so its image could contain later commits: put the Dockerfile into a folder of its own", dir)
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil || relative == "." {
			return err
		}
		return addEntry(out, name, filepath.ToSlash(relative), entry)
	})
	return errors.Join(err, out.Close())
}

// addEntry writes one file into an archive.
func addEntry(out *tar.Writer, from, name string, entry fs.DirEntry) error {
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
	if header.Name = name; info.IsDir() {
		header.Name += "/"
	}
	header.Uid, header.Gid, header.Uname, header.Gname = 0, 0, "", ""
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

// singleFile returns a function that writes an archive with one file.
func singleFile(name string, content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		out := tar.NewWriter(w)
		err := out.WriteHeader(&tar.Header{Name: strings.TrimPrefix(name, "/"), Mode: 0o644, Size: int64(len(content)), ModTime: time.Unix(946684800, 0)})
		if err == nil {
			_, err = out.Write(content)
		}
		return errors.Join(err, out.Close())
	}
}

// ImageLabels returns the value of a label of those images that exist, by name.
func (h *Host) ImageLabels(ctx context.Context, label string, names []string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		found, err := h.client.ImageInspect(ctx, name)
		switch {
		case errdefs.IsNotFound(err):
			continue
		case err != nil:
			return nil, failed(ctx, "look for image "+name, err)
		case found.Config != nil:
			values[name] = found.Config.Labels[label]
		}
	}
	return values, nil
}

// RemoveImage removes an image's name, and the layers that no other image uses. It is not an error if the
// image does not exist.
func (h *Host) RemoveImage(ctx context.Context, name string) error {
	ctx, cancel := h.cleanUpContext(ctx)
	defer cancel()
	_, err := h.client.ImageRemove(ctx, name, image.RemoveOptions{PruneChildren: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return failed(ctx, "remove image "+name, err)
	}
	return nil
}

// ImagesWith returns the names of the images with a label of this value, and how many bytes each uses on
// top of the image that it was made from. An image whose name another one has by now is named by its id.
func (h *Host) ImagesWith(ctx context.Context, label, value string) (map[string]int64, error) {
	found, err := h.client.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", label+"="+value))})
	if err != nil {
		return nil, failed(ctx, "list its images", err)
	}
	sizes := map[string]int64{}
	for _, i := range found {
		own := i.Size
		if i.ParentID != "" {
			if parent, err := h.client.ImageInspect(ctx, i.ParentID); err == nil {
				own -= parent.Size
			}
		}
		names := slices.DeleteFunc(i.RepoTags, func(name string) bool { return strings.HasPrefix(name, "<none>") })
		if len(names) == 0 { // another image has its name now
			names = []string{i.ID}
		}
		for _, name := range names {
			sizes[name] = own
		}
	}
	return sizes, nil
}

// RemoveContainers removes the containers with a label of this value.
func (h *Host) RemoveContainers(ctx context.Context, label, value string) error {
	found, err := h.client.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label+"="+value))})
	if err != nil {
		return failed(ctx, "list its containers", err)
	}
	var errs []error
	for _, c := range found {
		errs = append(errs, h.removeMaker(ctx, c.ID))
	}
	return errors.Join(errs...)
}
