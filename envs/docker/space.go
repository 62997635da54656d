package docker

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"relabel"
	"relabel/envs"
)

// Look implements envs.Engine.
func (h *Host) Look(ctx context.Context) (envs.Condition, error) {
	if err := h.Ping(ctx); err != nil {
		return envs.Condition{}, err
	}
	facts, err := h.facts(ctx)
	if err != nil {
		return envs.Condition{}, h.unreachable(err)
	}
	free := h.freeOn(facts)
	return envs.Condition{CPUs: facts.cpus, Free: free, Full: h.full(free)}, nil
}

// full explains that too little is free; "" if enough is free, or that is unknown.
func (h *Host) full(free int64) string {
	if free < 0 || free >= h.minFree {
		return ""
	}
	return fmt.Sprintf("low disk space: %d MiB are free for images and layers of %s, and %d MiB must stay free", free>>20, h.Name(), h.minFree>>20)
}

// freeOn is the number of free bytes on the disk of the engine's data; negative if that is on another
// machine, or cannot be read from here.
func (h *Host) freeOn(f engineFacts) int64 {
	name, err := os.Hostname()
	if h.address.url.Scheme != "unix" || err != nil || name != f.machine {
		return -1
	}
	free, err := h.free(f.root)
	if err != nil {
		return -1
	}
	return free
}

// FreeBytes is the number of bytes that an unprivileged user may still write below path.
func FreeBytes(path string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, relabel.Errorf(relabel.CodeUnavailable, "cannot read the free space of %s", path).Because(err)
	}
	return int64(fs.Bavail) * fs.Bsize, nil
}
