package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"relabel/envs/inside/process"
	"relabel/envs/wire"
)

// How a command is ended: with SIGTERM, and with SIGKILL after the grace.
const grace = 2 * time.Second

// errStopped ends a reading that its command has outlived.
var errStopped = os.ErrDeadlineExceeded

// command is one running command.
type command struct {
	pid   int
	exit  <-chan syscall.WaitStatus
	out   *os.File
	read  chan error // the reader's end: io.EOF, or errStopped
	last  atomic.Int64
	keeps *process.Ends
}

// run runs a command to its end. It ends when the program itself has ended: what it
// left in the background lives on, even where it holds the output open.
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

// launch starts the command in a session of its own, with its output on one pipe.
func (s *Server) launch(c *command, req wire.Request, stdin []byte) error {
	if len(req.Args) == 0 {
		return errors.New("no command")
	}
	env := append(append([]string(nil), s.env...), req.Env...)
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
	// A larger pipe lets a program write its output and end without waiting for us.
	process.GrowPipe(pipe[1])
	// A command may open it again, by /dev/stdout.
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

// standardInput is /dev/null, or a file that holds the input: nothing has to feed it.
func (s *Server) standardInput(stdin []byte) (*os.File, error) {
	if len(stdin) == 0 {
		return os.Open(os.DevNull)
	}
	f, err := process.Unnamed(s.bulk.Path("scratch"))
	if err != nil {
		return nil, err
	}
	// A command may open it again, by /dev/stdin.
	if err := f.Chmod(0o644); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Write(stdin); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, err
}

// follow keeps what the command writes until the pipe ends or drain stops it.
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

// readBuffers saves each command a new buffer.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// await waits until the command ended, on its own or because its time was up. ended is
// "" where the request was cancelled.
func (c *command) await(ctx context.Context, req wire.Request) (status syscall.WaitStatus, ended string) {
	var total, quiet <-chan time.Time
	if req.Timeout > 0 {
		t := time.NewTimer(req.Timeout)
		defer t.Stop()
		total = t.C
	}
	var silence *time.Timer
	if req.Quiet > 0 {
		silence = time.NewTimer(req.Quiet)
		defer silence.Stop()
		quiet = silence.C
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
			silence.Reset(left)
		}
	}
}

// end ends the command with all its children and returns how it ended.
func (c *command) end() (status syscall.WaitStatus) {
	family := process.NewFamily(c.pid)
	family.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	exited := false
	select {
	case status = <-c.exit:
		exited = true
	case <-timer.C:
	}
	// Until none is left: some are forked while the first pass continues, and none dies at
	// once. One that hangs in the kernel is not waited for.
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

// drain takes what the pipe still holds. A background process that keeps it open continues
// writing to nowhere: it must neither block nor die of our going.
func (c *command) drain() {
	// Setting the deadline wakes the reader, unless it is at the end already.
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

// take reads what was in the pipe when the command ended, and no more, for what stays
// behind may write for ever. It says whether the pipe is still held open.
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
			return err != nil // EAGAIN; without an error it is the end
		}
	}
	return true
}

// refuseStart answers as a shell does for a program that cannot be started. Where the
// container's limits are what is in the way, it is the sandbox that failed.
func refuseStart(c *command, req wire.Request, err error, began time.Time) wire.Response {
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENOSPC) {
		return wire.Response{Fault: wire.FaultOther, Message: "start a command: " + err.Error()}
	}
	exit := 126
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, process.ErrNotFound) {
		exit = 127
	}
	c.keeps.Write([]byte(fmt.Sprintf("%s: %v\n", strings.Join(req.Args[:min(1, len(req.Args))], ""), err)))
	resp := wire.Response{Ended: "exit", Exit: exit, Elapsed: time.Since(began)}
	resp.Kept, resp.Streamed, resp.Dropped = c.keeps.Finish()
	return resp
}
