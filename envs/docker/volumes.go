package docker

import (
	"context"
	"maps"
	"slices"

	"github.com/docker/docker/api/types/mount"
)

// volumesOf returns the paths at which an image declares volumes, none where it is not
// there. The engine is asked once.
func (h *Host) volumesOf(ctx context.Context, image string) ([]string, error) {
	h.mu.Lock()
	paths, known := h.volumes[image]
	h.mu.Unlock()
	if known {
		return paths, nil
	}
	if _, err := h.HasImage(ctx, image); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.volumes[image], nil
}

// noteVolumes keeps what an inspection said of an image's volumes.
func (h *Host) noteVolumes(image string, declared map[string]struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.volumes[image] = slices.Sorted(maps.Keys(declared))
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
