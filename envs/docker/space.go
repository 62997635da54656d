package docker

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"relabel"
	"relabel/envs"
)

// Look is envs.Engine's.
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

// full says in words that too little is free; "" where enough is, or nobody knows.
func (h *Host) full(free int64) string {
	if free < 0 || free >= h.minFree {
		return ""
	}
	return fmt.Sprintf("%d MiB are free where %s keeps images and layers, and %d MiB are to stay free", free>>20, h.Name(), h.minFree>>20)
}

// freeOn is how many bytes are free where the engine keeps its data; negative where that
// is on another machine, or not to be seen from here.
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

// FreeBytes is how many bytes an unprivileged user may still write below path.
func FreeBytes(path string) (int64, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil {
		return 0, relabel.Errorf(relabel.CodeUnavailable, "the free space of %s is not to be told", path).Because(err)
	}
	return int64(fs.Bavail) * fs.Bsize, nil
}
