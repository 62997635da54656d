package docker

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

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

// ReadImage calls read with a tar archive of all files of an image. It makes a container with these labels for it, does
// not start it, and removes it.
func (h *Host) ReadImage(ctx context.Context, name string, labels map[string]string, read func(archive io.Reader) error) (err error) {
	id, err := h.createMaker(ctx, ImageSpec{From: name, Labels: labels})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.removeMaker(ctx, id)) }()
	archive, err := h.client.ContainerExport(ctx, id)
	if err != nil {
		return failed(ctx, "read image "+name, err)
	}
	defer archive.Close()
	return read(archive)
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
