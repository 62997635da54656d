package inside

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"relabel/envs/inside/process"
	"relabel/envs/wire"
)

const (
	// lookEvery is the interval between checks of the free space.
	lookEvery = 2 * time.Second
	// restAfterWalk is the pause after a walk, as a multiple of its duration.
	restAfterWalk = 10
	// oldestWalk is the maximum age of the last walk: deletions of others on the same disk can hide
	// the writes of commands from the check of the free space.
	oldestWalk = 2 * time.Minute
)

// diskUse measures what commands write to the container's disk (its own file system and the volumes
// of its image), because few file systems of engines can bound that. The check of the free space costs
// one system call. If that, or the number of free inodes, changed by an eighth of the limit since the
// last walk, or the walk is old, a walk counts the files that changed since the sandbox started (no
// command can set their change time) and deleted files that a process still has open.
type diskUse struct {
	limit int64 // bytes; 0 means no limit
	apart *process.Separation
	over  atomic.Bool

	mu    sync.Mutex
	began time.Time
	roots []string  // "/" and the mount points of other disks
	free  []int64   // of each root at the last walk
	last  time.Time // of the last walk
	rest  time.Time // no walk before this, unless a write failed
}

// fault is the answer after commands exceeded the limit.
func (d *diskUse) fault() wire.Response {
	return wire.Response{Fault: wire.FaultDiskLimit, Message: fmt.Sprintf("the sandbox's commands wrote more to its disk than the limit of %d MiB", d.limit>>20)}
}

// watchDisk checks the disk periodically until it is stopped. Outside of a container there is no limit,
// because others use the disk too.
func (s *Server) watchDisk() (stop func()) {
	if s.disk.limit <= 0 || !s.processes.First {
		s.disk.limit = 0
		return func() {}
	}
	s.disk.begin(s.apart)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.lookAtDisk()
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

// begin records the state before the first command.
func (d *diskUse) begin(apart *process.Separation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apart, d.began, d.roots = apart, time.Now(), diskRoots()
	d.free, d.last = freeSpaces(d.roots), d.began
}

// lookAtDisk reports whether commands exceeded the limit, and ends all of them then.
func (s *Server) lookAtDisk() bool {
	if s.disk.limit == 0 || !s.disk.exceeded(false) {
		return s.disk.over.Load()
	}
	s.disk.over.Store(true)
	s.processes.EndAll()
	return true
}

// filledDisk reports whether commands exceeded the limit, after a write failed because the disk is
// full. A process can hide its files from the count, so all commands are ended, and the space that this
// frees counts too. That does no harm, because the rollout does not continue. If there is no process,
// others free the space.
func (s *Server) filledDisk() bool {
	d := &s.disk
	if d.limit == 0 || d.over.Load() {
		return d.over.Load()
	}
	if !d.exceeded(true) {
		if len(process.ProcessTable()) == 0 {
			return false
		}
		before := freeSpaces(d.roots)
		s.processes.EndEvery()
		if !d.cameBack(before) {
			return false
		}
	}
	d.over.Store(true)
	s.processes.EndAll()
	return true
}

// most is the limit with its tolerance of an eighth, in bytes.
func (d *diskUse) most() int64 { return d.limit + d.limit/8 }

// exceeded reports whether more than most was written. Without must it walks only if a walk is due.
func (d *diskUse) exceeded(must bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, now := freeSpaces(d.roots), time.Now()
	if !must && !d.due(free, now) {
		return false
	}
	used := written(d.roots, d.began, d.most())
	if used <= d.most() {
		d.apart.AsCommands(func() { used += deletedAndOpen(d.roots) })
	}
	d.free, d.last, d.rest = free, now, now.Add(restAfterWalk*time.Since(now))
	return used > d.most()
}

// due reports whether the free space changed or the last walk is old, and the pause after it is over.
func (d *diskUse) due(free []int64, now time.Time) bool {
	changed := differ(d.free, free, d.limit/8) || differ(free, d.free, d.limit/8)
	return now.After(d.rest) && (changed || now.Sub(d.last) > oldestWalk)
}

// cameBack reports whether more than most became free on a root. The space of an ended process may
// become free with a delay.
func (d *diskUse) cameBack(before []int64) bool {
	for range 5 {
		// Without free inodes, which are unrelated to bytes on file systems that make them on demand.
		if differ(freeSpaces(d.roots)[:len(d.roots)], before, d.most()+1) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// differ reports whether an element of a exceeds that of b by least or more.
func differ(a, b []int64, least int64) bool {
	for i := range a {
		if a[i]-b[i] >= least {
			return true
		}
	}
	return false
}
