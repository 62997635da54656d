package docker

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/containerd/errdefs"

	"relabel"
)

// pull is a running pull that several callers may wait for.
type pull struct {
	done chan struct{}
	err  error
}

// EnsureImage makes the image present: see envs.Host. Concurrent calls for one image pull it once.
func (h *Host) EnsureImage(ctx context.Context, name string) error {
	there, err := h.HasImage(ctx, name)
	if err != nil {
		return err
	}
	if there {
		return h.noteUse(ctx, name)
	}
	if strings.HasPrefix(name, relabel.LocalImages) {
		return relabel.Errorf(relabel.CodeImageMissing, "image %s was built on another machine: build it on the engine at %s too, with `relabel tasks build-images`", name, h.Name())
	}
	h.mu.Lock()
	p := h.pulls[name]
	if p == nil {
		p = &pull{done: make(chan struct{})}
		h.pulls[name] = p
		// The pull continues when its first caller leaves.
		go h.finishPull(context.WithoutCancel(ctx), name, p)
	}
	h.mu.Unlock()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return failed(ctx, "pull "+name, ctx.Err())
	}
}

func (h *Host) finishPull(ctx context.Context, name string, p *pull) {
	h.pulling <- struct{}{}
	defer func() { <-h.pulling }()
	ctx, cancel := context.WithTimeout(ctx, h.times.Pull)
	defer cancel()
	p.err = h.pull(ctx, name)
	h.mu.Lock()
	delete(h.pulls, name)
	h.mu.Unlock()
	close(p.done)
}

// HasImage implements envs.Engine. An impossible name is CodeImageMissing.
func (h *Host) HasImage(ctx context.Context, name string) (bool, error) {
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	found, err := h.client.ImageInspect(call, name)
	switch {
	case err == nil:
		var facts imageFacts
		if c := found.Config; c != nil {
			facts = imageFacts{volumes: slices.Sorted(maps.Keys(c.Volumes)), user: c.User, workdir: c.WorkingDir}
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.declared[name] = facts
		return true, nil
	case errdefs.IsNotFound(err):
		return false, nil
	case errdefs.IsInvalidArgument(err):
		return false, missing(name, err)
	}
	return false, failed(ctx, "look for image "+name, err)
}

// missing is the error for an image that cannot be pulled. No registry has the base images of relabel.
func missing(name string, err error) error {
	if kind, is := strings.CutPrefix(name, "relabel/base-"); is {
		kind, _, _ = strings.Cut(kind, ":")
		return relabel.Errorf(relabel.CodeImageMissing, "image %s is not on the Docker host; run `scripts/runner-images.sh %s` there", name, kind).Because(err)
	}
	return relabel.Errorf(relabel.CodeImageMissing, "image %s is not on the Docker host and cannot be pulled", name).Because(err)
}
