package docker

import (
	"context"

	"relabel"
)

// expansion is how many times its compressed size an image may take on disk. Layers of source code and
// packages take about three times.
const expansion = 3

// maxDescribed is the number of images in registries whose layers are remembered.
const maxDescribed = 4096

// MakeRoom implements envs.Engine. An image that is not on the engine counts with the expansion of its
// compressed layers; one whose registry does not tell them counts as nothing.
func (h *Host) MakeRoom(ctx context.Context, image string, keep []string) (bool, error) {
	if h.images.Ledger == nil || h.images.Budget <= 0 {
		return true, nil
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return false, err
	}
	if len(keep) > 0 {
		if err := h.images.Ledger.NoteUse(ctx, facts.id, keep...); err != nil {
			return false, err
		}
	}
	pulled, err := h.images.Ledger.ListPulled(ctx, facts.id)
	if err != nil {
		return false, err
	}
	needed := map[string]bool{image: true}
	for _, name := range keep {
		needed[name] = true
	}
	room := newRoom(pulled, needed)
	for name := range needed {
		if room.has[name] {
			continue
		}
		parts, err := h.expected(ctx, name)
		if err != nil {
			return false, err
		}
		room.add(parts)
	}
	if room.needed > h.images.Budget {
		return false, nil
	}
	return true, h.evict(ctx, pulled, needed, &room)
}

// evict removes pulled images that are not needed, the least recently used first, until the budget is met.
func (h *Host) evict(ctx context.Context, pulled []relabel.PulledImage, needed map[string]bool, room *room) error {
	for _, p := range pulled {
		if room.all <= h.images.Budget {
			return nil
		}
		if needed[p.Image] {
			continue
		}
		gone, err := h.removeImage(ctx, p)
		if err != nil {
			return err
		}
		if gone {
			room.all -= room.layers.Remove(p.Parts())
		}
	}
	return nil
}

// room is the disk space of images, with shared layers counted once.
type room struct {
	has    map[string]bool  // the pulled images
	layers relabel.LayerSet // of all images
	all    int64            // bytes of all images
	needs  relabel.LayerSet // of the needed images
	needed int64            // bytes of the needed images
}

func newRoom(pulled []relabel.PulledImage, needed map[string]bool) room {
	r := room{has: map[string]bool{}, layers: relabel.LayerSet{}, needs: relabel.LayerSet{}}
	for _, p := range pulled {
		r.has[p.Image] = true
		r.all += r.layers.Add(p.Parts())
		if needed[p.Image] {
			r.needed += r.needs.Add(p.Parts())
		}
	}
	return r
}

// add adds a needed image that will be pulled.
func (r *room) add(parts []relabel.Layer) {
	r.all += r.layers.Add(parts)
	r.needed += r.needs.Add(parts)
}

// expected returns the layers that a pull of the image will add, with their expected size on disk. An image
// that the engine has although relabel did not pull it adds nothing.
func (h *Host) expected(ctx context.Context, name string) ([]relabel.Layer, error) {
	h.mu.Lock()
	known, remembered := h.described[name]
	h.mu.Unlock()
	if remembered {
		return known, nil
	}
	facts, err := h.Describe(ctx, name)
	if err != nil || facts.State == relabel.ImagePresent {
		return nil, err
	}
	layers := make([]relabel.Layer, len(facts.Layers))
	for i, l := range facts.Layers {
		layers[i] = relabel.Layer{Digest: l.Digest, Bytes: expansion * l.Bytes}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.described) >= maxDescribed {
		clear(h.described)
	}
	h.described[name] = layers
	return layers, nil
}
