package docker

import (
	"context"

	"github.com/docker/docker/api/types/mount"
)

// imageFacts are the declarations of an image that sandboxes use.
type imageFacts struct {
	volumes []string // paths of its volumes
	user    string   // the user of its programs; "" is root
	workdir string   // the folder in which its programs start; "" is /
}

// factsOf returns the declarations of an image; there is false if the engine does not have it. The
// engine is asked once per image.
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

// ownVolumes labels the volumes that an image declares, so that leftovers can be found. They have no
// name, and so are removed with their container.
func ownVolumes(paths []string, labels map[string]string) (mounts []mount.Mount) {
	for _, path := range paths {
		mounts = append(mounts, mount.Mount{Type: mount.TypeVolume, Target: path, VolumeOptions: &mount.VolumeOptions{Labels: labels}})
	}
	return mounts
}
