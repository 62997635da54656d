package worker

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"relabel"
)

// diskGuardPeriod is the time between two checks that are logged.
const diskGuardPeriod = 5 * time.Second

// DiskGuardConfig is what a DiskGuard needs.
type DiskGuardConfig struct {
	Folder  string                             // on the disk to watch
	MinFree int64                              // bytes; 0 disables the guard
	Free    func(folder string) (int64, error) // returns the free bytes
	Log     zerolog.Logger
}

// DiskGuard refuses new work while a disk has too little free space, and logs when that
// begins and ends.
type DiskGuard struct {
	DiskGuardConfig
	periodic

	mu  sync.Mutex
	low bool
}

// NewDiskGuard returns a DiskGuard.
func NewDiskGuard(c DiskGuardConfig) (*DiskGuard, error) {
	g := &DiskGuard{DiskGuardConfig: c}
	g.periodic = periodic{Task: Task{Period: diskGuardPeriod, Run: g.RunNow, Log: c.Log}}
	return g, require("disk guard", requirement{"Free", c.Free != nil})
}

// Check fails with CodeUnavailable while the disk has too little free space.
func (g *DiskGuard) Check() error {
	if g.MinFree <= 0 {
		return nil
	}
	free, err := g.Free(g.Folder)
	if err == nil && free < g.MinFree {
		err = relabel.Errorf(relabel.CodeUnavailable, "the data folder %s has too little free space (%d MiB; the minimum is %d MiB): no new work is claimed", g.Folder, free>>20, g.MinFree>>20)
	}
	return err
}

// RunNow checks once and logs a change.
func (g *DiskGuard) RunNow(context.Context) error {
	err := g.Check()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil && !g.low:
		g.Log.Warn().Err(err).Msg("low disk space: not claiming new work")
	case err == nil && g.low:
		g.Log.Info().Msg("enough disk space: claiming new work again")
	}
	g.low = err != nil
	return nil
}
