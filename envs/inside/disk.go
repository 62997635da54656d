package inside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"relabel/envs/wire"
)

const (
	// lookEvery is how often the free space is looked at while the sandbox lives.
	lookEvery = 2 * time.Second
	// restAfterWalk is how many times as long as a walk took no other one begins.
	restAfterWalk = 10
)

// diskUse is how much commands wrote to the container's disk. Few file systems of engines can
// bound that, so it is measured: how much space is free there costs one system call, and where it
// shrank by an eighth of the limit since the last walk, whoever used it, the files that are younger
// than the sandbox are counted. No command can set the time of a file's last change. A file that
// has no name any more is not counted: its space is free again when its program ends.
type diskUse struct {
	limit int64 // bytes; 0 is any number
	over  atomic.Bool

	mu    sync.Mutex
	began time.Time
	free  int64     // when it was last walked
	rest  time.Time // no walk before
}

// fault is the answer where too much was written.
func (d *diskUse) fault() wire.Response {
	return wire.Response{Fault: wire.FaultDiskLimit, Message: fmt.Sprintf("the sandbox's commands wrote more to its disk than the %d MiB that they may", d.limit>>20)}
}

// watchDisk looks at the disk again and again until it is stopped. Elsewhere than in a container
// the disk is others', too.
func (s *Server) watchDisk() (stop func()) {
	if s.disk.limit <= 0 || !s.processes.first {
		s.disk.limit = 0
		return func() {}
	}
	s.disk.began, s.disk.free = time.Now(), freeSpace("/")
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

// lookAtDisk reports whether commands wrote too much, and ends all of them then.
func (s *Server) lookAtDisk() bool {
	if s.disk.limit == 0 || !s.disk.exceeded() {
		return s.disk.over.Load()
	}
	s.disk.over.Store(true)
	s.processes.endAll()
	return true
}

// exceeded reports whether more than the limit, and an eighth, was written.
func (d *diskUse) exceeded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	free, now := freeSpace("/"), time.Now()
	if d.free-free < d.limit/8 || now.Before(d.rest) {
		return false
	}
	used := written("/", d.began, d.limit+d.limit/8)
	d.free, d.rest = free, now.Add(restAfterWalk*time.Since(now))
	return used > d.limit+d.limit/8
}

// freeSpace is how many bytes are free on the file system of a path.
func freeSpace(path string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0
	}
	return int64(s.Bavail) * s.Bsize
}

// written counts the bytes on disk of files below dir, on its file system, that were changed since
// began, until they are more than enough.
func written(dir string, began time.Time, enough int64) (bytes int64) {
	var top syscall.Stat_t
	if err := syscall.Lstat(dir, &top); err != nil {
		return 0
	}
	for queue := []string{dir}; len(queue) > 0 && bytes <= enough; {
		folder := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		entries, _ := os.ReadDir(folder) // what could be read counts
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			var s syscall.Stat_t
			if err := syscall.Lstat(path, &s); err != nil {
				continue // gone since
			}
			switch s.Mode & syscall.S_IFMT {
			case syscall.S_IFDIR:
				if s.Dev == top.Dev && len(path) < maxPath {
					queue = append(queue, path)
				}
			case syscall.S_IFREG:
				if !time.Unix(s.Ctim.Unix()).Before(began) {
					bytes += s.Blocks * 512 / max(1, int64(s.Nlink))
				}
			}
		}
	}
	return bytes
}
