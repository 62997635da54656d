package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"

	"relabel"
	"relabel/envs"
	"relabel/envs/remote"
)

// Create starts a sandbox: see envs.Host. It pulls a missing image.
func (h *Host) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	if spec.Name == "" || spec.Workdir != "" && !strings.HasPrefix(spec.Workdir, "/") {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a sandbox needs a name and an absolute working folder, not %q and %q", spec.Name, spec.Workdir)
	}
	spec.Limits = withDefaults(spec.Limits)
	spec.Limits.CPUs = h.availableCPUs(ctx, spec.Limits.CPUs)
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
	// The engine may have created the container although its answer was lost.
	return nil, errors.Join(err, h.removeOurs(ctx, spec.Name))
}

// availableCPUs bounds the CPUs of a sandbox, beyond the default, by those of the engine, which would refuse more.
func (h *Host) availableCPUs(ctx context.Context, cpus float64) float64 {
	if cpus <= envs.DefaultLimits.CPUs {
		return cpus
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return cpus // the engine refuses what it lacks
	}
	return min(cpus, float64(facts.cpus))
}

// checkRuntime refuses a runtime that the engine lacks.
func (h *Host) checkRuntime(ctx context.Context, runtime string) error {
	if runtime == "" {
		return nil
	}
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	info, err := h.client.Info(call)
	if err != nil {
		return failed(ctx, "list its runtimes", err)
	}
	if _, there := info.Runtimes[runtime]; !there {
		return relabel.Errorf(relabel.CodeEnvironment, "the Docker engine at %s has no runtime %q", h.Name(), runtime)
	}
	return nil
}

// createContainer creates the container. It retries after a missing image, a quota that the engine
// cannot set, and a leftover of the same name.
func (h *Host) createContainer(ctx context.Context, spec envs.Spec) (id string, err error) {
	for range 4 {
		quota := !h.noQuota.Load()
		id, err = h.tryCreate(ctx, spec, quota)
		switch {
		case err == nil:
			return id, nil
		case errors.Is(err, errNoImage), errdefs.IsNotFound(err) && strings.Contains(strings.ToLower(err.Error()), "image"):
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
	return "", relabel.Errorf(relabel.CodeEnvironment, "Docker could not create %s: its name or image kept changing", spec.Name)
}

// errNoImage means that the engine does not have the image.
var errNoImage = errors.New("no such image")

func (h *Host) tryCreate(ctx context.Context, spec envs.Spec, quota bool) (string, error) {
	image, there, err := h.factsOf(ctx, spec.Image)
	if err != nil {
		return "", err
	}
	if !there {
		return "", errNoImage
	}
	call, cancel := context.WithTimeout(ctx, h.times.Create)
	defer cancel()
	config := hostConfig(spec.Limits, quota)
	config.Mounts = ownVolumes(image.volumes, labelsOf(h.instance, spec.Labels))
	made, err := h.client.ContainerCreate(call, h.containerConfig(spec), config, nil, nil, spec.Name)
	return made.ID, err
}

// isQuotaRefusal recognizes the engine's messages for a storage driver without quota.
func isQuotaRefusal(err error) bool { return containsAny(err, "storage-opt", "storage opt", "quota") }

// containsAny reports whether an error's text contains one of the words, in any case.
func containsAny(err error, words ...string) bool {
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// start attaches to the created container, starts it and performs the handshake with sandboxd.
func (h *Host) start(ctx context.Context, spec envs.Spec, id string) (*Sandbox, error) {
	// One time limit for everything; the connection outlives it.
	call, cancel := context.WithTimeout(ctx, h.times.Start)
	defer cancel()
	image, _, err := h.factsOf(call, spec.Image)
	if err != nil {
		return nil, err
	}
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
	session, err := remote.Open(call, stream, remote.Config{
		Workdir: cmp.Or(spec.Workdir, image.workdir, "/"), User: image.user, Disk: spec.Limits.DiskBytes, Deadline: spec.Labels.Deadline, Silence: h.silence, Why: func(broke error) error { return h.why(id, broke) },
	})
	if err != nil {
		stream.Close() // unblocks the write
		if errors.Is(call.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
			err = errors.Join(err, call.Err()) // the engine is the cause
		}
		if text := stream.stderr.String(); text != "" {
			err = errors.Join(err, fmt.Errorf("standard error of the container: %s", text))
		}
		return nil, sandboxdFailed(ctx, spec.Image, errors.Join(err, <-written))
	}
	session.OwnedBy(ctx)
	return &Sandbox{Session: session, host: h, id: id}, nil
}

// sandboxdFailed is the error of a sandboxd that did not start. The image is the cause, unless the
// time limit was reached.
func sandboxdFailed(ctx context.Context, image string, err error) error {
	what := "start sandboxd in image " + image
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return failed(ctx, what, err)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "Docker could not %s", what).Because(err)
}

// attach attaches to a container before ctx ends. The connection outlives ctx. The engine's client
// ignores the context while an engine hangs, so the end of ctx closes the connection here.
func (h *Host) attach(ctx context.Context, id string) (types.HijackedResponse, error) {
	connection := &dialled{}
	stop := context.AfterFunc(ctx, connection.close)
	dialling := context.WithValue(context.WithoutCancel(ctx), dialledKey{}, connection)
	attached, err := h.client.ContainerAttach(dialling, id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if stop() || err == nil && ctx.Err() == nil {
		return attached, err
	}
	if err == nil {
		attached.Close()
	}
	return types.HijackedResponse{}, ctx.Err()
}

// cleanUpContext is not cancelled with ctx, but has a time limit of its own.
func (h *Host) cleanUpContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), h.times.Remove+h.times.Call)
}
