// Package process starts programs inside a sandbox, ends them with their descendants, and isolates
// sandboxd from commands.
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

// Table starts programs and reports their ends. As process 1 of a container it also adopts orphans,
// like an init; elsewhere it waits only for its own children.
type Table struct {
	First bool // this is process 1, which may end all other processes of the container
	mu    sync.Mutex
	ends  map[int]chan syscall.WaitStatus
	began []*Family // the started programs, unless First
	apart *Separation
}

// NewTable returns an empty table. A process makes one at most.
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

// StartCommand starts a program of the agent with the rights of the image's user: see start.
func (p *Table) StartCommand(argv0 string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	commands, _ := p.apart.forking()
	attr.Sys.Credential = p.apart.credential()
	pid, end, err := p.start(commands, argv0, argv, attr)
	if p.apart != nil {
		// The child changed its user while it shared this process's memory. Meanwhile a command could
		// have made this process the first victim when memory runs out.
		err = errors.Join(err, hideFromCommands())
		PreferForOOM(os.Getpid(), "0")
	}
	return pid, end, err
}

// startOwn starts a program of sandboxd: see start.
func (p *Table) startOwn(argv0 string, argv []string, attr *syscall.ProcAttr) (int, <-chan syscall.WaitStatus, error) {
	_, git := p.apart.forking()
	return p.start(git, argv0, argv, attr)
}

// start starts a program from a thread and returns its process id and a channel for its status. If the
// container's process limit is reached, it ends the processes of commands and retries.
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
	p.mu.Lock() // so that the reaper finds the child in the map
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

// collect reaps every child that has ended, including adopted ones.
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

// Hasten polls for an imminent end after the output has ended, because the signal takes longer.
func (p *Table) Hasten(end <-chan syscall.WaitStatus) {
	for range 50 {
		p.collect()
		if !p.First || len(end) > 0 {
			return
		}
		// time.Sleep would take at least a millisecond here.
		_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// EndAll kills every other process of the container, or outside of one the started sessions.
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

// EndEvery repeats EndAll until no process is left, for at most two seconds: one may hang in the kernel.
func (p *Table) EndEvery() {
	for range 400 {
		p.EndAll()
		if len(ProcessTable()) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// spareThreads makes the runtime start n threads now. After a fork bomb has used up the container's
// processes, starting one would be fatal.
func spareThreads(n int) {
	var started sync.WaitGroup
	release := make(chan struct{})
	started.Add(n)
	for range n {
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

// endTime bounds the wait for killed processes.
const endTime = 5 * time.Second

// EndAllAndWait ends every process of commands and waits up to endTime until none is left, so that the
// tree no longer changes.
func (p *Table) EndAllAndWait(ctx context.Context) error {
	p.EndAll()
	if !p.First {
		return nil
	}
	for end := time.Now().Add(endTime); len(ProcessTable()) > 0 && time.Now().Before(end); {
		p.EndAll() // includes processes that were forked meanwhile
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
