package docker

import (
	"context"
	"maps"
	"slices"

	"github.com/docker/docker/api/types/mount"
)

// imageFacts are what is known of an image that a sandbox is made from.
type imageFacts struct {
	volumes []string // paths at which it declares volumes
	user    string   // whom its programs run as; "" is root
}

// factsOf returns what an image declares; there is false where the engine does not have it. The
// engine is asked once.
func (h *Host) factsOf(ctx context.Context, image string) (facts imageFacts, there bool, err error) {
	h.mu.Lock()
	facts, there = h.declared[image]
	h.mu.Unlock()
	if there {
		return facts, true, nil
	}
	if there, err = h.HasImage(ctx, image); err != nil || !there {
		return imageFacts{}, false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.declared[image], true, nil
}

// noteFacts keeps what an inspection said of an image.
func (h *Host) noteFacts(image string, volumes map[string]struct{}, user string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.declared[image] = imageFacts{volumes: slices.Sorted(maps.Keys(volumes)), user: user}
}

// ownVolumes makes the volumes that an image declares ours to see: the engine makes them
// in any case, and without a label nobody could tell whose a forgotten one is. They
// have no name, and so go with their container.
func ownVolumes(paths []string, labels map[string]string) (mounts []mount.Mount) {
	for _, path := range paths {
		mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Target: path, VolumeOptions: &mount.VolumeOptions{Labels: labels}})
	}
	return mounts
}
