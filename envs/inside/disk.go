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
	// lookEvery is how often the free space is looked at while the sandbox lives.
	lookEvery = 2 * time.Second
	// restAfterWalk is how many times as long as a walk took no other one begins.
	restAfterWalk = 10
	// oldestWalk is how old the last walk may get: what others on the same disk delete can hide
	// from a look at the free space what commands write.
	oldestWalk = 2 * time.Minute
)

// diskUse is how much commands wrote to the container's disk: its own file system and the volumes
// of its image. Few file systems of engines can bound that, so it is measured: how much space is
// free there costs one system call, and where it, or the number of free inodes, changed by an
// eighth of the limit since the last walk, whoever used or freed it, or that walk is old, two
// things are counted: the files that are younger than the sandbox, of which no command can set the
// time of the last change, and those that were deleted and that a process still has open.
type diskUse struct {
	limit int64 // bytes; 0 is any number
	apart *process.Separation
	over  atomic.Bool

	mu    sync.Mutex
	began time.Time
	roots []string  // "/" and the folders on which other disks are mounted
	free  []int64   // of each root when it was last walked
	last  time.Time // when that was
	rest  time.Time // no walk before, unless a write failed
}

// fault is the answer where too much was written.
func (d *diskUse) fault() wire.Response {
	return wire.Response{Fault: wire.FaultDiskLimit, Message: fmt.Sprintf("the sandbox's commands wrote more to its disk than the %d MiB that they may", d.limit>>20)}
}

// watchDisk looks at the disk again and again until it is stopped. Elsewhere than in a container
// the disk is others', too.
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

// begin notes what is there before the first command.
func (d *diskUse) begin(apart *process.Separation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.apart, d.began, d.roots = apart, time.Now(), diskRoots()
	d.free, d.last = freeSpaces(d.roots), d.began
}

// lookAtDisk reports whether commands wrote too much, and ends all of them then.
func (s *Server) lookAtDisk() bool {
	if s.disk.limit == 0 || !s.disk.exceeded(false) {
		return s.disk.over.Load()
	}
	s.disk.over.Store(true)
	s.processes.EndAll()
	return true
}

// filledDisk reports whether commands wrote too much, where a write just failed because the disk
// is full. A process can hide its files from the count. So all commands are ended, and what is
// free right after that and was not before is theirs, too. Commands of a sandbox whose disk is
// full can be ended: its rollout does not continue. Where no process lives, none hides anything, and
// what becomes free is others'.
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

// most is how many bytes commands may write until they are ended: the limit, and an eighth.
func (d *diskUse) most() int64 { return d.limit + d.limit/8 }

// exceeded reports whether more than most was written. Unless it must, it walks only where a walk
// is due.
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

// due reports whether the free space changed, or the last walk is old, and that walk's rest is over.
func (d *diskUse) due(free []int64, now time.Time) bool {
	changed := differ(d.free, free, d.limit/8) || differ(free, d.free, d.limit/8)
	return now.After(d.rest) && (changed || now.Sub(d.last) > oldestWalk)
}

// cameBack reports whether, on a root, more than most is free that was not before. The space of
// the files of a process that ended may take a moment to come back.
func (d *diskUse) cameBack(before []int64) bool {
	for range 5 {
		// Free inodes tell nothing of bytes on file systems that make them as they are needed.
		if differ(freeSpaces(d.roots)[:len(d.roots)], before, d.most()+1) {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// differ reports whether an element of a is larger than that of b by least or more.
func differ(a, b []int64, least int64) bool {
	for i := range a {
		if a[i]-b[i] >= least {
			return true
		}
	}
	return false
}
