package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"relabel/envs/inside/process"
	"relabel/envs/wire"
)

// grace is the time between SIGTERM and SIGKILL when a command is ended.
const grace = 2 * time.Second

// errStopped ends the reading of output after the command's end.
var errStopped = os.ErrDeadlineExceeded

// command is one running command.
type command struct {
	pid   int
	exit  <-chan syscall.WaitStatus
	out   *os.File
	read  chan error   // the reader's end: io.EOF, or errStopped
	last  atomic.Int64 // time of the last output
	keeps *process.Ends
}

// run runs a command until its program ends. Background processes keep running, even if they hold the
// output open.
func (s *Server) run(ctx context.Context, req wire.Request, stdin []byte, emit func([]byte)) wire.Response {
	if s.disk.over.Load() {
		return s.disk.fault()
	}
	began, killed := time.Now(), oomKills()
	c := &command{keeps: process.NewEnds(req.MaxOutput, emit), read: make(chan error, 1)}
	if err := s.launch(c, req, stdin); err != nil {
		if errors.Is(err, syscall.ENOSPC) && s.filledDisk() {
			return s.disk.fault()
		}
		return refuseStart(c, req, err, began)
	}
	go c.follow(s.processes)
	status, ended := c.await(ctx, req)
	c.drain()
	if s.lookAtDisk() {
		return s.disk.fault()
	}
	resp := wire.Response{Ended: ended, Exit: process.ExitCode(status), Elapsed: time.Since(began)}
	resp.Kept, resp.Streamed, resp.Dropped = c.keeps.Finish()
	resp.Memory = resp.Exit != 0 && oomKills() > killed
	if ended == "" {
		resp.Fault, resp.Message = wire.FaultCanceled, "canceled"
	}
	return resp
}

// launch starts the command in a new session, with its output on one pipe.
func (s *Server) launch(c *command, req wire.Request, stdin []byte) error {
	if len(req.Args) == 0 {
		return errors.New("no command")
	}
	env := slices.Concat(s.env, req.Env)
	path, err := process.LookPath(req.Args[0], env)
	if err != nil {
		return err
	}
	in, err := s.standardInput(stdin)
	if err != nil {
		return err
	}
	defer in.Close()
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return err
	}
	// A larger pipe lets a program write its output and end without waiting for sandboxd.
	process.GrowPipe(pipe[1])
	// A command may open it by /dev/stdout.
	if err := syscall.Fchmod(pipe[1], 0o666); err != nil {
		return errors.Join(err, syscall.Close(pipe[0]), syscall.Close(pipe[1]))
	}
	attr := &syscall.ProcAttr{
		Dir: s.path(req.Dir), Env: env, Sys: &syscall.SysProcAttr{Setsid: true},
		Files: []uintptr{in.Fd(), uintptr(pipe[1]), uintptr(pipe[1])},
	}
	c.pid, c.exit, err = s.processes.StartCommand(path, req.Args, attr)
	syscall.Close(pipe[1])
	if err != nil {
		syscall.Close(pipe[0])
		return err
	}
	process.PreferForOOM(c.pid, "1000")
	if err := syscall.SetNonblock(pipe[0], true); err != nil {
		return err
	}
	c.out = os.NewFile(uintptr(pipe[0]), "output")
	c.last.Store(time.Now().UnixNano())
	return nil
}

// standardInput is /dev/null, or a file with the input.
func (s *Server) standardInput(stdin []byte) (*os.File, error) {
	if len(stdin) == 0 {
		return os.Open(os.DevNull)
	}
	f, err := process.Unnamed(s.bulk.Path("scratch"))
	if err != nil {
		return nil, err
	}
	// A command may open it by /dev/stdin.
	_, write := f.WriteAt(stdin, 0)
	if err := errors.Join(f.Chmod(0o644), write); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// follow keeps the command's output until the pipe ends or drain stops it.
func (c *command) follow(processes *process.Table) {
	buf := *readBuffers.Get().(*[]byte)
	defer readBuffers.Put(&buf)
	for {
		n, err := c.out.Read(buf)
		if n > 0 {
			c.last.Store(time.Now().UnixNano())
			c.keeps.Write(buf[:n])
		}
		if err != nil {
			c.read <- err
			if errors.Is(err, io.EOF) {
				processes.Hasten(c.exit)
			}
			return
		}
	}
}

// readBuffers are reused between commands.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// await waits for the command's end, or ends it at its time limits. ended is "" if the request was
// cancelled.
func (c *command) await(ctx context.Context, req wire.Request) (status syscall.WaitStatus, ended string) {
	var total, quiet <-chan time.Time
	if req.Timeout > 0 {
		total = time.After(req.Timeout)
	}
	if req.Quiet > 0 {
		quiet = time.After(req.Quiet)
	}
	for {
		select {
		case status = <-c.exit:
			return status, "exit"
		case <-ctx.Done():
			return c.end(), ""
		case <-total:
			return c.end(), "timeout"
		case <-quiet:
			left := req.Quiet - time.Duration(time.Now().UnixNano()-c.last.Load())
			if left <= 0 {
				return c.end(), "quiet"
			}
			quiet = time.After(left)
		}
	}
}

// end ends the command with all its children and returns its status.
func (c *command) end() (status syscall.WaitStatus) {
	family := process.NewFamily(c.pid)
	family.Signal(syscall.SIGTERM)
	exited := false
	select {
	case status = <-c.exit:
		exited = true
	case <-time.After(grace):
	}
	// Repeated because processes fork meanwhile, and bounded because one may hang in the kernel.
	for range 200 {
		if family.Signal(syscall.SIGKILL) == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if !exited {
		status = <-c.exit
	}
	return status
}

// drain reads the rest of the output. If a background process keeps the pipe open, drain continues to
// discard its output, so that the process neither blocks nor gets SIGPIPE.
func (c *command) drain() {
	// The deadline wakes the reader, unless it has ended already.
	_ = c.out.SetReadDeadline(time.Unix(1, 0))
	if err := <-c.read; !errors.Is(err, errStopped) {
		c.out.Close()
		return
	}
	conn, err := c.out.SyscallConn()
	if err != nil {
		c.out.Close()
		return
	}
	open := true
	_ = conn.Control(func(fd uintptr) { open = c.take(int(fd)) })
	if !open {
		c.out.Close()
		return
	}
	_ = c.out.SetReadDeadline(time.Time{})
	go func() {
		_, _ = io.Copy(io.Discard, c.out)
		c.out.Close()
	}()
}

// take reads at most a full pipe, because background processes may write endlessly. It reports whether
// the pipe is still open.
func (c *command) take(fd int) (open bool) {
	buf := make([]byte, 64<<10)
	for left := process.PipeSize; left > 0; {
		n, err := syscall.Read(fd, buf[:min(len(buf), left)])
		if n > 0 {
			c.keeps.Write(buf[:n])
			left -= n
		}
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if n <= 0 {
			return err != nil // EAGAIN; no error means the end
		}
	}
	return true
}

// refuseStart answers like a shell for a program that cannot be started. If the container's limits are
// the cause, the sandbox failed.
func refuseStart(c *command, req wire.Request, err error, began time.Time) wire.Response {
	if isOneOf(err, syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENOSPC) {
		return wire.Response{Fault: wire.FaultOther, Message: "start a command: " + err.Error()}
	}
	exit := 126
	if isOneOf(err, syscall.ENOENT, process.ErrNotFound) {
		exit = 127
	}
	c.keeps.Write(fmt.Appendf(nil, "%s: %v\n", strings.Join(req.Args[:min(1, len(req.Args))], ""), err))
	resp := wire.Response{Ended: "exit", Exit: exit, Elapsed: time.Since(began)}
	resp.Kept, resp.Streamed, resp.Dropped = c.keeps.Finish()
	return resp
}
