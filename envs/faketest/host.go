// Package faketest is a Host without an engine: its sandboxes are folders on this machine, their commands
// run here, and tests inject faults. It also records misuse by callers.
package faketest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"relabel"
	"relabel/envs"
)

// Faults are injected from now on.
type Faults struct {
	Create     error         // Create fails with it
	LoseAnswer bool          // Create makes the sandbox, but fails with CodeEnvironment
	DieAfter   int           // a sandbox dies at the command after this many; 0: never
	DieIn      string        // a sandbox dies at each command that contains this text; "": never
	Slow       time.Duration // every call of a sandbox takes this much longer
	EngineDown bool          // every call of the host fails because of the engine
	Full       string        // why the host has no disk space; "" if it has
	Patch      error         // Patch fails with it
}

// Host makes sandboxes in folders. It implements envs.Host.
type Host struct {
	// Prepare, if set, fills a new sandbox's working folder in place of its image.
	Prepare func(image, workdir string) error
	// Silence is how long a sandbox is kept without contact from its owner; 0 means
	// remote.DefaultSilence.
	Silence time.Duration
	// Label, if set, is the host's Name.
	Label string

	dir    string
	images map[string]bool

	mu      sync.Mutex
	faults  Faults
	boxes   map[string]*Sandbox // the existing ones, by name
	made    int
	misuses []string
}

var _ envs.Engine = (*Host)(nil)

// NewHost makes sandboxes in folders below dir, of the named images only.
func NewHost(dir string, images ...string) *Host {
	h := &Host{dir: dir, images: map[string]bool{}, boxes: map[string]*Sandbox{}}
	for _, image := range images {
		h.images[image] = true
	}
	return h
}

// SetFaults replaces the faults, also those of existing sandboxes.
func (h *Host) SetFaults(f Faults) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.faults = f
}

// Misuses describes the misuses by callers: a sandbox that was used after it was closed, created
// with the name of one in use, or not closed.
func (h *Host) Misuses() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	misuses := append([]string(nil), h.misuses...)
	for name, box := range h.boxes {
		if !box.dead() {
			misuses = append(misuses, name+" was not closed")
		}
	}
	return misuses
}

// Sandboxes returns the names of the existing sandboxes.
func (h *Host) Sandboxes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	for name := range h.boxes {
		names = append(names, name)
	}
	return names
}

// Kill ends a sandbox like a fault: it still exists, but is dead.
func (h *Host) Kill(name string) {
	h.mu.Lock()
	box := h.boxes[name]
	h.mu.Unlock()
	if box != nil {
		box.die()
	}
}

// Name implements envs.Host.
func (h *Host) Name() string {
	if h.Label != "" {
		return h.Label
	}
	return "fake"
}

// Look implements envs.Engine. A fake has two CPUs.
func (h *Host) Look(context.Context) (envs.Condition, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faults.EngineDown {
		return envs.Condition{}, relabel.Errorf(relabel.CodeUnavailable, "the engine does not answer").Because(envs.ErrEngine)
	}
	return envs.Condition{CPUs: 2, Full: h.faults.Full, Free: -1}, nil
}

// HasImage implements envs.Engine.
func (h *Host) HasImage(_ context.Context, image string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faults.EngineDown {
		return false, errDown
	}
	return h.images[image], nil
}

// Describe implements envs.Engine. A fake has no registry, and its images have no layers.
func (h *Host) Describe(ctx context.Context, image string) (relabel.ImageFacts, error) {
	has, err := h.HasImage(ctx, image)
	if err != nil || has {
		return relabel.ImageFacts{State: relabel.ImagePresent}, err
	}
	return relabel.ImageFacts{State: relabel.ImageMissing, Problem: "the fake does not have it"}, nil
}

// MakeRoom implements envs.Engine. A fake has no budget.
func (h *Host) MakeRoom(context.Context, string, []string) (bool, error) { return true, nil }

// Tidy implements envs.Engine and does nothing.
func (h *Host) Tidy(context.Context) error { return nil }

// Close implements envs.Engine and does nothing.
func (h *Host) Close() error { return nil }

// EnsureImage implements envs.Host.
func (h *Host) EnsureImage(_ context.Context, image string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ensure(image)
}

func (h *Host) ensure(image string) error {
	if h.faults.EngineDown {
		return errDown
	}
	if !h.images[image] {
		return relabel.Errorf(relabel.CodeImageMissing, "image %s is missing", image)
	}
	return nil
}

var errDown = relabel.Errorf(relabel.CodeEnvironment, "the engine does not answer").Because(envs.ErrEngine)

// Create implements envs.Host.
func (h *Host) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := errors.Join(ctx.Err(), h.ensure(spec.Image), h.faults.Create); err != nil {
		if relabel.CodeOf(err) == relabel.CodeInternal {
			err = relabel.Errorf(relabel.CodeEnvironment, "no sandbox").Because(err)
		}
		return nil, err
	}
	if spec.Limits.Runtime != "" {
		return nil, relabel.Errorf(relabel.CodeEnvironment, "the engine has no runtime %q", spec.Limits.Runtime)
	}
	if old := h.boxes[spec.Name]; old != nil {
		if !old.dead() && !old.abandoned {
			h.misuses = append(h.misuses, spec.Name+" was created while one of that name was in use")
		}
		if err := old.remove(); err != nil {
			return nil, err
		}
	}
	box, err := h.build(ctx, spec)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeEnvironment, "no sandbox").Because(err)
	}
	h.boxes[spec.Name] = box
	if h.faults.LoseAnswer {
		box.abandoned = true
		return nil, relabel.Errorf(relabel.CodeEnvironment, "the answer to create was lost")
	}
	return box, nil
}

func (h *Host) build(ctx context.Context, spec envs.Spec) (*Sandbox, error) {
	h.made++
	root := filepath.Join(h.dir, fmt.Sprintf("%03d", h.made))
	workdir := filepath.Join(root, "fs", spec.Workdir)
	home := filepath.Join(root, "home")
	for _, dir := range []string{workdir, home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if h.Prepare != nil {
		if err := h.Prepare(spec.Image, workdir); err != nil {
			return nil, err
		}
	}
	box := &Sandbox{host: h, spec: spec, root: root, files: filepath.Join(root, "fs")}
	return box, box.start(ctx, workdir, home)
}

// Reap implements envs.Host.
func (h *Host) Reap(_ context.Context, keep func(envs.Labels) bool) (removed []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.faults.EngineDown {
		return nil, errDown
	}
	for name, box := range h.boxes {
		labels := box.spec.Labels
		labels.Instance = "fake"
		if keep(labels) {
			continue
		}
		if failure := box.remove(); failure != nil {
			err = errors.Join(err, failure)
			continue
		}
		delete(h.boxes, name)
		removed = append(removed, name)
	}
	return removed, err
}

// current returns the current faults, and records a use after Close.
func (h *Host) current(box *Sandbox) Faults {
	h.mu.Lock()
	defer h.mu.Unlock()
	if box.closed {
		h.misuses = append(h.misuses, box.spec.Name+" was used after it was closed")
	}
	return h.faults
}
