package docker

import (
	"context"
	"errors"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"

	"relabel"
)

// Ledger remembers which images this instance pulled, on which engines: those alone it
// may remove. It is safe for concurrent use, also by several processes.
type Ledger interface {
	// NotePull notes that an image was pulled, and so used.
	NotePull(ctx context.Context, p relabel.PulledImage) error
	// NoteUse notes that an image is used now, if it was pulled.
	NoteUse(ctx context.Context, engine, image string) error
	// ListPulled returns the engine's, the least recently used first.
	ListPulled(ctx context.Context, engine string) ([]relabel.PulledImage, error)
	// ForgetPull forgets an image that is gone, or no longer the one that was pulled.
	ForgetPull(ctx context.Context, engine, image string) error
}

// notePull notes an image that was pulled just now.
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
	return h.images.Ledger.NotePull(ctx, relabel.PulledImage{Engine: facts.id, Image: name, ID: found.ID, Bytes: found.Size})
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

// Tidy is envs.Engine's: it keeps to the budget of images and, by images too, to the room
// that is to stay free. What a container uses stays.
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
	var all int64
	for _, p := range pulled {
		all += p.Bytes
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
			all -= p.Bytes
		}
	}
	return nil
}

// removeImage removes an image that was pulled, unless it is used. What is another under
// its name by now stays.
func (h *Host) removeImage(ctx context.Context, p relabel.PulledImage) (gone bool, err error) {
	call, cancel := context.WithTimeout(ctx, h.times.Remove)
	defer cancel()
	name := p.Image
	found, err := h.client.ImageInspect(call, name)
	if errdefs.IsNotFound(err) || err == nil && found.ID != p.ID {
		// The name is gone or another's. What was pulled may still be there, without one.
		name = p.ID
		found, err = h.client.ImageInspect(call, name)
	}
	switch {
	case errdefs.IsNotFound(err), err == nil && name == p.ID && len(found.RepoTags) > 0:
		return true, h.images.Ledger.ForgetPull(ctx, p.Engine, p.Image)
	case err != nil:
		return false, failed(ctx, "look for image "+p.Image, err)
	case len(found.RepoTags) > 1:
		return false, nil // another has given it a name, too: to take ours away would free nothing
	}
	_, err = h.client.ImageRemove(call, name, image.RemoveOptions{PruneChildren: true})
	switch {
	case errdefs.IsConflict(err): // a container uses it
		return false, nil
	case err != nil && !errdefs.IsNotFound(err):
		return false, failed(ctx, "remove image "+p.Image, err)
	}
	h.log.Info().Str("image", p.Image).Int64("bytes", p.Bytes).Time("used", p.UsedAt).Msg("removed an image that was pulled, to make room")
	return true, h.images.Ledger.ForgetPull(ctx, p.Engine, p.Image)
}

// engineFacts are what an engine says of itself and seldom changes.
type engineFacts struct {
	id, root, machine string
	cpus              int
	at                time.Time
}

// factsFor is how long they are believed: an engine may be restarted as another.
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
		return engineFacts{}, failed(ctx, "tell about itself", err)
	}
	facts = engineFacts{id: info.ID, root: info.DockerRootDir, machine: info.Name, cpus: info.NCPU, at: time.Now()}
	h.mu.Lock()
	h.engine = facts
	h.mu.Unlock()
	return facts, nil
}
