package docker

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"relabel"
)

// Ledger records the images that this instance pulled on each engine, because it may remove only
// these. It is safe for concurrent use, also by several processes.
type Ledger interface {
	// NotePull records that an image was pulled and used.
	NotePull(ctx context.Context, p relabel.PulledImage) error
	// NoteUse records that images are used now, if they were pulled.
	NoteUse(ctx context.Context, engine string, images ...string) error
	// ListPulled returns an engine's pulled images, the least recently used first.
	ListPulled(ctx context.Context, engine string) ([]relabel.PulledImage, error)
	// ForgetPull forgets an image that was removed or replaced.
	ForgetPull(ctx context.Context, engine, image string) error
}

// notePull records an image that was just pulled.
func (h *Host) notePull(ctx context.Context, name string) error {
	if h.images.Ledger == nil {
		return nil
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	found, err := h.client.ImageInspect(call, name)
	if err != nil {
		return failed(ctx, "look for image "+name, err)
	}
	layers, err := h.layersOf(call, found)
	if err != nil {
		return err
	}
	return h.images.Ledger.NotePull(ctx, relabel.PulledImage{Engine: facts.id, Image: name, ID: found.ID, Bytes: found.Size, Layers: layers})
}

func (h *Host) noteUse(ctx context.Context, name string) error {
	if h.images.Ledger == nil {
		return nil
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return err
	}
	return h.images.Ledger.NoteUse(ctx, facts.id, name)
}

// Tidy implements envs.Engine. It removes images until they are within their budget, with shared layers
// counted once, and enough disk space is free. It keeps images that a container uses.
func (h *Host) Tidy(ctx context.Context) error {
	if h.images.Ledger == nil {
		return nil
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return err
	}
	pulled, err := h.images.Ledger.ListPulled(ctx, facts.id)
	if err != nil {
		return err
	}
	layers := relabel.LayerSet{}
	var all int64
	for _, p := range pulled {
		all += layers.Add(p.Parts())
	}
	for _, p := range pulled {
		over := h.images.Budget > 0 && all > h.images.Budget
		if !over && h.full(h.freeOn(facts)) == "" {
			return nil
		}
		gone, err := h.removeImage(ctx, p)
		if err != nil {
			return err
		}
		if gone {
			all -= layers.Remove(p.Parts())
		}
	}
	return nil
}

// removeImage removes an image that was pulled, unless it is used. It keeps another image that has
// its name now.
func (h *Host) removeImage(ctx context.Context, p relabel.PulledImage) (gone bool, err error) {
	call, cancel := context.WithTimeout(ctx, h.times.Remove)
	defer cancel()
	name := p.Image
	found, err := h.client.ImageInspect(call, name)
	if errdefs.IsNotFound(err) || err == nil && found.ID != p.ID {
		// The name is gone, or belongs to another image. The pulled image may still exist without one.
		name = p.ID
		found, err = h.client.ImageInspect(call, name)
	}
	switch {
	case errdefs.IsNotFound(err), err == nil && name == p.ID && len(found.RepoTags) > 0:
		return true, h.images.Ledger.ForgetPull(ctx, p.Engine, p.Image)
	case err != nil:
		return false, failed(ctx, "look for image "+p.Image, err)
	case len(found.RepoTags) > 1:
		return false, nil // the image has another name too: removing ours would free nothing
	}
	_, err = h.client.ImageRemove(call, name, image.RemoveOptions{PruneChildren: true})
	switch {
	case errdefs.IsConflict(err): // a container uses it
		return false, nil
	case err != nil && !errdefs.IsNotFound(err):
		return false, failed(ctx, "remove image "+p.Image, err)
	}
	h.log.Info().Str("image", p.Image).Int64("bytes", p.Bytes).Time("used", p.UsedAt).Msg("removed a pulled image to free disk space")
	return true, h.images.Ledger.ForgetPull(ctx, p.Engine, p.Image)
}

// engineFacts are properties of an engine that seldom change.
type engineFacts struct {
	id, root, machine string
	architecture      string // as images name it: amd64, arm64
	insecure          func(registry string) bool
	cpus              int
	at                time.Time
}

// architectures are the names of architectures in images, by those of engines.
var architectures = map[string]string{"x86_64": "amd64", "aarch64": "arm64"}

// factsFor is how long engineFacts are cached: an engine may be restarted as another.
const factsFor = time.Minute

func (h *Host) facts(ctx context.Context) (engineFacts, error) {
	h.mu.Lock()
	facts := h.engine
	h.mu.Unlock()
	if facts.id != "" && time.Since(facts.at) < factsFor {
		return facts, nil
	}
	call, cancel := context.WithTimeout(ctx, h.times.Call)
	defer cancel()
	info, err := h.client.Info(call)
	if err == nil && info.ID == "" {
		err = errors.New("it has no id")
	}
	if err != nil {
		return engineFacts{}, failed(ctx, "return information about itself", err)
	}
	facts = engineFacts{id: info.ID, root: info.DockerRootDir, machine: info.Name, cpus: info.NCPU, at: time.Now(),
		architecture: cmp.Or(architectures[info.Architecture], info.Architecture), insecure: insecureBy(info.RegistryConfig)}
	h.mu.Lock()
	h.engine = facts
	h.mu.Unlock()
	return facts, nil
}
