package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"relabel"
	"relabel/envs"
	"relabel/envs/remote"
)

// Create starts a sandbox: see envs.Host. An image that is not there is pulled.
func (h *Host) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	if spec.Name == "" || !strings.HasPrefix(spec.Workdir, "/") {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a sandbox needs a name and an absolute working folder, not %q and %q", spec.Name, spec.Workdir)
	}
	spec.Limits = withDefaults(spec.Limits)
	if err := h.checkRuntime(ctx, spec.Limits.Runtime); err != nil {
		return nil, err
	}
	id, err := h.createContainer(ctx, spec)
	if err == nil {
		var sandbox *Sandbox
		if sandbox, err = h.start(ctx, spec, id); err == nil {
			return sandbox, nil
		}
	}
	// The engine may have made it even though its answer was lost.
	return nil, errors.Join(err, h.removeOurs(ctx, spec.Name))
}

// checkRuntime refuses a runtime that the engine lacks.
func (h *Host) checkRuntime(ctx context.Context, runtime string) error {
	if runtime == "" {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	info, err := h.client.Info(call)
	if err != nil {
		return failed(ctx, "tell its runtimes", err)
	}
	if _, there := info.Runtimes[runtime]; !there {
		return relabel.Errorf(relabel.CodeEnvironment, "the Docker engine at %s has no runtime %q, which was asked for", h.Name(), runtime)
	}
	return nil
}

// createContainer creates the container and clears out of the way what hinders it: an
// image that is not there, a quota the engine cannot set, a leftover of the same name.
func (h *Host) createContainer(ctx context.Context, spec envs.Spec) (id string, err error) {
	for range 4 {
		quota := !h.noQuota.Load()
		id, err = h.tryCreate(ctx, spec, quota)
		switch {
		case err == nil:
			return id, nil
		case errdefs.IsNotFound(err) && strings.Contains(strings.ToLower(err.Error()), "image"):
			err = h.EnsureImage(ctx, spec.Image)
		case errdefs.IsConflict(err):
			err = h.removeOurs(ctx, spec.Name)
		case quota && isQuotaRefusal(err):
			h.noQuota.Store(true)
			err = nil
		default:
			return "", failed(ctx, "create "+spec.Name, err)
		}
		if err != nil {
			return "", err
		}
	}
	return "", relabel.Errorf(relabel.CodeEnvironment, "Docker could not create %s: its name or image came and went", spec.Name)
}

func (h *Host) tryCreate(ctx context.Context, spec envs.Spec, quota bool) (string, error) {
	call, cancel := context.WithTimeout(ctx, createTime)
	defer cancel()
	made, err := h.client.ContainerCreate(call, h.containerConfig(spec), hostConfig(spec.Limits, quota), nil, nil, spec.Name)
	return made.ID, err
}

// isQuotaRefusal recognises the engine's words for a storage driver without quota.
func isQuotaRefusal(err error) bool {
	text := strings.ToLower(err.Error())
	for _, words := range []string{"storage-opt", "storage opt", "storage option", "pquota", "quota"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// start attaches to the created container, starts it and shakes hands with sandboxd.
func (h *Host) start(ctx context.Context, spec envs.Spec, id string) (*Sandbox, error) {
	// One time limit for all of it; the connection outlives it.
	call, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	attached, err := h.attach(call, id)
	if err != nil {
		return nil, failed(ctx, "attach to "+spec.Name, err)
	}
	stream := newStream(attached)
	if err := h.client.ContainerStart(call, id, container.StartOptions{}); err != nil {
		stream.Close()
		return nil, failed(ctx, "start "+spec.Name, err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := stream.Write(h.sandboxd)
		written <- err
	}()
	session, err := remote.Open(call, stream, spec.Workdir, spec.Labels.Deadline)
	if err != nil {
		stream.Close() // unblocks the writing
		if says := stream.said(); says != "" {
			err = errors.Join(err, fmt.Errorf("the container says: %s", says))
		}
		return nil, failed(ctx, "start sandboxd in image "+spec.Image, errors.Join(err, <-written))
	}
	return &Sandbox{Session: session, host: h, id: id, name: spec.Name}, nil
}

// attach attaches to a container within ctx's time. The connection lives on: it would be
// bound to the context that it is made with, and the engine's client does not look at
// that while it waits for an engine that hangs. So ctx is looked at here, and a connection
// that comes too late is closed.
func (h *Host) attach(ctx context.Context, id string) (types.HijackedResponse, error) {
	var attached types.HijackedResponse
	done := make(chan error, 1)
	go func() {
		var err error
		attached, err = h.client.ContainerAttach(context.WithoutCancel(ctx), id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
		done <- err
	}()
	select {
	case err := <-done:
		return attached, err
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				attached.Close()
			}
		}()
		return types.HijackedResponse{}, ctx.Err()
	}
}

// cleanUpContext outlives a cancelled ctx by its own time limit.
func cleanUpContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), removeTime+10*time.Second)
}
