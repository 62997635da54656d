package docker

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"

	"relabel"
	"relabel/envs"
)

// Reap removes the containers, volumes and networks of this instance that are not to be kept: see
// envs.Host. It also removes those with broken labels. It continues after errors and joins them.
func (h *Host) Reap(ctx context.Context, keep func(envs.Labels) bool) (removed []string, err error) {
	ours := filters.NewArgs(filters.Arg("label", labelInstance+"="+h.instance))
	var errs []error
	// Containers first, because they use the others.
	for _, list := range []lister{{"containers", h.containers}, {"volumes", h.volumes}, {"networks", h.networks}} {
		names, err := h.reap(ctx, list, ours, keep)
		removed, errs = append(removed, names...), append(errs, err)
	}
	return removed, errors.Join(errs...)
}

// lister lists one kind of leftovers.
type lister struct {
	kind string
	list func(context.Context, filters.Args) ([]leftover, error)
}

// leftover is a container, volume or network of this instance.
type leftover struct {
	name   string
	labels map[string]string
	remove func(context.Context) error
}

func (h *Host) reap(ctx context.Context, l lister, ours filters.Args, keep func(envs.Labels) bool) (removed []string, err error) {
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	found, err := l.list(call, ours)
	if err != nil {
		return nil, failed(ctx, "list its "+l.kind, err)
	}
	var errs []error
	for _, left := range found {
		labels, err := readLabels(left.labels)
		if err == nil && keep(labels) {
			continue
		}
		switch err := left.remove(ctx); {
		case err == nil:
			removed = append(removed, left.name)
		case !errors.Is(err, errInUse):
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

func (h *Host) containers(ctx context.Context, ours filters.Args) (list []leftover, err error) {
	found, err := h.client.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	for _, c := range found {
		if c.State == container.StateDead && !h.knows(ctx, c.ID) {
			continue
		}
		name := strings.TrimPrefix(strings.Join(c.Names[:min(1, len(c.Names))], ""), "/")
		list = append(list, leftover{cmp.Or(name, c.ID), c.Labels, func(ctx context.Context) error { return h.remove(ctx, c.ID) }})
	}
	return list, err
}

// knows reports whether a listed container exists. An engine that was killed during a removal may list
// the removed container as dead until its next start.
func (h *Host) knows(ctx context.Context, id string) bool {
	_, err := h.client.ContainerInspect(ctx, id)
	return !errdefs.IsNotFound(err)
}

func (h *Host) volumes(ctx context.Context, ours filters.Args) (list []leftover, err error) {
	found, err := h.client.VolumeList(ctx, volume.ListOptions{Filters: ours})
	for _, v := range found.Volumes {
		list = append(list, leftover{"volume " + v.Name, v.Labels, func(ctx context.Context) error {
			return h.removePart(ctx, "remove volume "+v.Name, func(ctx context.Context) error { return h.client.VolumeRemove(ctx, v.Name, false) })
		}})
	}
	return list, err
}

func (h *Host) networks(ctx context.Context, ours filters.Args) (list []leftover, err error) {
	found, err := h.client.NetworkList(ctx, network.ListOptions{Filters: ours})
	for _, n := range found {
		list = append(list, leftover{"network " + n.Name, n.Labels, func(ctx context.Context) error {
			return h.removePart(ctx, "remove network "+n.ID, func(ctx context.Context) error { return h.client.NetworkRemove(ctx, n.ID) })
		}})
	}
	return list, err
}

// errInUse means that a container still uses a volume or a network. The next Reap removes it.
var errInUse = errors.New("in use")

// removePart removes a volume or a network, or fails with errInUse. It ignores one that is gone.
func (h *Host) removePart(ctx context.Context, what string, remove func(context.Context) error) error {
	call, cancel := context.WithTimeout(ctx, h.times.Remove)
	defer cancel()
	err := remove(call)
	switch {
	case err == nil, errdefs.IsNotFound(err):
		return nil
	case errdefs.IsConflict(err), errdefs.IsPermissionDenied(err):
		return errInUse
	}
	return failed(ctx, what, err)
}

// removeOurs removes the container of that name, if there is one. A container of another instance is
// an error. It works on a cancelled context.
func (h *Host) removeOurs(ctx context.Context, name string) error {
	ctx, cancel := h.cleanUpContext(ctx)
	defer cancel()
	found, err := h.client.ContainerInspect(ctx, name)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return failed(ctx, "look for "+name, err)
	}
	if found.Config == nil || found.Config.Labels[labelInstance] != h.instance {
		return relabel.Errorf(relabel.CodeEnvironment, "the container %s on the Docker host does not belong to this instance", name)
	}
	return h.remove(ctx, found.ID)
}

// remove removes a container with its volumes, and returns once it is gone. It ignores one that is
// gone already.
func (h *Host) remove(ctx context.Context, id string) error {
	call, cancel := context.WithTimeout(ctx, h.times.Remove)
	defer cancel()
	err := h.client.ContainerRemove(call, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	if !errdefs.IsConflict(err) {
		return failed(ctx, "remove "+id, err)
	}
	// The container is being removed already.
	gone, failure := h.client.ContainerWait(call, id, container.WaitConditionRemoved)
	select {
	case <-gone:
		return nil
	case err := <-failure:
		if errdefs.IsNotFound(err) {
			return nil
		}
		return failed(ctx, "remove "+id, err)
	}
}
