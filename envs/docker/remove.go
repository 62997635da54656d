package docker

import (
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

// Reap removes sandboxes of this instance that keep does not want, and volumes and
// networks that bear its labels: see envs.Host. What has broken labels of ours is not
// kept. It removes what it can and joins the errors of what it cannot.
func (h *Host) Reap(ctx context.Context, keep func(envs.Labels) bool) (removed []string, err error) {
	ours := filters.NewArgs(filters.Arg("label", labelInstance+"="+h.instance))
	var errs []error
	// Containers first: what they use cannot be removed.
	for _, kind := range []leftover{h.leftContainers(), h.leftVolumes(), h.leftNetworks()} {
		names, err := h.reap(ctx, kind, ours, keep)
		removed, errs = append(removed, names...), append(errs, err)
	}
	return removed, errors.Join(errs...)
}

// leftover is a kind of thing on the engine that may be left behind.
type leftover struct {
	kind   string
	list   func(ctx context.Context, ours filters.Args) ([]thing, error)
	remove func(ctx context.Context, id string) error
}

// thing is one of them. Those of other makers are never listed.
type thing struct {
	id, name string
	labels   map[string]string
}

func (h *Host) reap(ctx context.Context, l leftover, ours filters.Args, keep func(envs.Labels) bool) (removed []string, err error) {
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	things, err := l.list(call, ours)
	if err != nil {
		return nil, failed(ctx, "list its "+l.kind, err)
	}
	var errs []error
	for _, t := range things {
		labels, err := readLabels(t.labels)
		if err == nil && keep(labels) {
			continue
		}
		switch err := l.remove(ctx, t.id); {
		case err == nil:
			removed = append(removed, t.name)
		case !errors.Is(err, errInUse):
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

func (h *Host) leftContainers() leftover {
	return leftover{"containers", func(ctx context.Context, ours filters.Args) (list []thing, err error) {
		found, err := h.client.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
		for _, c := range found {
			if c.State != container.StateDead || h.knows(ctx, c.ID) {
				list = append(list, thing{c.ID, nameOf(c), c.Labels})
			}
		}
		return list, err
	}, h.remove}
}

// knows reports whether the engine knows a container that it lists. One that was killed while it
// removed a container, and started again, may list it as dead until its next start, and have no
// such container: there is nothing left to be removed then.
func (h *Host) knows(ctx context.Context, id string) bool {
	_, err := h.client.ContainerInspect(ctx, id)
	return !errdefs.IsNotFound(err)
}

func (h *Host) leftVolumes() leftover {
	return leftover{"volumes", func(ctx context.Context, ours filters.Args) (list []thing, err error) {
		found, err := h.client.VolumeList(ctx, volume.ListOptions{Filters: ours})
		for _, v := range found.Volumes {
			list = append(list, thing{v.Name, "volume " + v.Name, v.Labels})
		}
		return list, err
	}, func(ctx context.Context, id string) error {
		return h.removePart(ctx, "remove volume "+id, func(ctx context.Context) error { return h.client.VolumeRemove(ctx, id, false) })
	}}
}

func (h *Host) leftNetworks() leftover {
	return leftover{"networks", func(ctx context.Context, ours filters.Args) (list []thing, err error) {
		found, err := h.client.NetworkList(ctx, network.ListOptions{Filters: ours})
		for _, n := range found {
			list = append(list, thing{n.ID, "network " + n.Name, n.Labels})
		}
		return list, err
	}, func(ctx context.Context, id string) error {
		return h.removePart(ctx, "remove network "+id, func(ctx context.Context) error { return h.client.NetworkRemove(ctx, id) })
	}}
}

// errInUse says that a container still uses a volume or a network. It is on its own way
// out: the next look sees.
var errInUse = errors.New("in use")

// removePart removes a part of a sandbox's, or fails with errInUse. It is not an error that it
// is gone.
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

func nameOf(c container.Summary) string {
	if len(c.Names) == 0 {
		return c.ID
	}
	return strings.TrimPrefix(c.Names[0], "/")
}

// removeOurs removes the container of that name, if there is one and it is of this
// instance; another's is an error. It works on a cancelled context.
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
		return relabel.Errorf(relabel.CodeEnvironment, "there is a container %s on the Docker host that is not ours", name)
	}
	return h.remove(ctx, found.ID)
}

// remove removes a container with all that is its own, and returns once it is gone. It
// is not an error that it is gone, or going, already.
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
	// It is being removed: because its sandboxd has ended, or by another.
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
