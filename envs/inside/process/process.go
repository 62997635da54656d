// Package process starts programs inside a sandbox, ends them with all that they started, and keeps
// commands away from sandboxd.
package process

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Table starts programs and reports their ends. As process 1 of a container it
// also takes in the orphans, as an init does; elsewhere it waits for its own alone.
type Table struct {
	First bool // this is process 1: every other process of the container is ours to end
	mu    sync.Mutex
	ends  map[int]chan syscall.WaitStatus
	began []*Family // elsewhere than in a container: what was started
	apart *Separation
}

// NewTable returns a table of no process. A process makes one at most.
func NewTable(apart *Separation) *Table {
	p := &Table{First: os.Getpid() == 1, ends: map[int]chan syscall.WaitStatus{}, apart: apart}
	if p.First {
		died := make(chan os.Signal, 1)
		signal.Notify(died, syscall.SIGCHLD)
		go func() {
			for range died {
				p.collect()
			}
		}()
	}
	return p
}

// StartCommand starts a program of the agent's with the rights of the image's user: see start.
func (p *Table) StartCommand(argv0 string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	commands, _ := p.apart.forking()
	attr.Sys.Credential = p.apart.credential()
	pid, end, err := p.start(commands, argv0, argv, attr)
	if p.apart != nil {
		// The child changed its user while it shared our memory: for a moment a command could have
		// made us the first victim when memory is out.
		err = errors.Join(err, hideFromCommands())
		PreferForOOM(os.Getpid(), "0")
	}
	return pid, end, err
}

// startOwn starts a program of sandboxd's own: see start.
func (p *Table) startOwn(argv0 string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	_, git := p.apart.forking()
	return p.start(git, argv0, argv, attr)
}

// start starts a program from a thread and returns its process id, and a channel on which its
// end comes. Where the container's process limit is reached, what commands left behind is
// ended to make room.
func (p *Table) start(from *worker, argv0 string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	for try := 0; ; try++ {
		pid, end, err := p.fork(from, argv0, argv, attr)
		if !errors.Is(err, syscall.EAGAIN) || !p.First || try == 100 {
			return pid, end, err
		}
		p.EndAll()
		time.Sleep(20 * time.Millisecond) // the reaper needs a moment for a thousand of them
	}
}

func (p *Table) fork(from *worker, argv0 string, argv []string, attr *syscall.ProcAttr) (pid int, exit <-chan syscall.WaitStatus, err error) {
	p.mu.Lock() // the reaper must not meet a child that is not in the map yet
	defer p.mu.Unlock()
	from.do(func() { pid, err = syscall.ForkExec(argv0, argv, attr) })
	if err != nil {
		return 0, nil, err
	}
	end := make(chan syscall.WaitStatus, 1)
	if !p.First {
		p.began = append(p.began, NewFamily(pid))
		go func() { end <- wait(pid) }()
		return pid, end, nil
	}
	p.ends[pid] = end
	return pid, end, nil
}

// wait waits for one child.
func wait(pid int) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			return status
		}
	}
}

// collect takes in every child that has ended, adopted ones too.
func (p *Table) collect() {
	if !p.First {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid == 0 {
			return
		}
		if end := p.ends[pid]; end != nil {
			delete(p.ends, pid)
			end <- status
		}
	}
}

// Hasten looks for an end that is near, because the output has ended: to be told of it
// by a signal takes longer.
func (p *Table) Hasten(end <-chan syscall.WaitStatus) {
	for range 50 {
		p.collect()
		if !p.First || len(end) > 0 {
			return
		}
		// A sleep of Go's would be a millisecond at least here.
		_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// EndAll kills every other process of the container; where this is none, the sessions
// that were started.
func (p *Table) EndAll() {
	if p.First {
		_ = syscall.Kill(-1, syscall.SIGKILL) // ESRCH: none exists
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.began {
		f.Signal(syscall.SIGKILL)
	}
	p.began = nil
}

// EndEvery is EndAll until none is left that runs. One that hangs in the kernel is not waited for.
func (p *Table) EndEvery() {
	for range 400 {
		p.EndAll()
		if len(ProcessTable()) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// spareThreads makes the runtime start n threads now, so that none has to be started
// where a fork bomb has used up the container's processes, which would be fatal.
func spareThreads(n int) {
	var started sync.WaitGroup
	release := make(chan struct{})
	for range n {
		started.Add(1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started.Done()
			<-release
		}()
	}
	started.Wait()
	close(release)
}

// endTime bounds the wait for the ends of processes that were killed.
const endTime = 5 * time.Second

// EndAllAndWait ends every process of commands and waits until none is left, so that nothing
// changes the tree any more. One that hangs in the kernel is not waited for longer than endTime.
func (p *Table) EndAllAndWait(ctx context.Context) error {
	p.EndAll()
	if !p.First {
		return nil
	}
	for end := time.Now().Add(endTime); len(ProcessTable()) > 0 && time.Now().Before(end); {
		p.EndAll() // one that was forked meanwhile
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
