// Package inside is the part of sandboxd that serves the host over one stream of wire frames: it runs
// commands, reads and writes files, and takes the working tree's fingerprint and patch.
package inside

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"relabel/envs/inside/process"
	"relabel/envs/inside/worktree"
	"relabel/envs/wire"
)

// handshakeTime bounds the wait for the host's hello.
const handshakeTime = time.Minute

// Config has the settings of a Server.
type Config struct {
	// Home is a folder for sandboxd's own small files that commands cannot reach.
	Home string
	// Disk is a folder in which sandboxd makes one for large files.
	Disk string
	// Separation isolates this process from commands; nil runs them as this process.
	Separation *process.Separation
	// Expire is called after too long without contact from the host, or at the deadline.
	Expire func()
}

// Server answers one host.
type Server struct {
	workdir   string
	home      string // Config.Home
	bulk      *worktree.Bulk
	apart     *process.Separation
	disk      diskUse
	user      string   // of commands, in the form of an image's USER
	env       []string // of commands
	processes *process.Table
	out       *wire.Writer
	repo      *worktree.Repository
	taken     chan struct{} // closed after the copy of git, successful or not
	watch     *watch
	silence   time.Duration
	life      context.Context // of all requests; ends with the host's connection

	mu      sync.Mutex
	cancels map[uint32]context.CancelFunc
}

// Serve sends the hello on out and answers the requests on in. It returns nil when in ends, because the
// host is gone.
func Serve(in io.Reader, out io.Writer, c Config) error {
	life, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &Server{home: c.Home, apart: c.Separation, out: wire.NewWriter(out), taken: make(chan struct{}),
		life: life, cancels: map[uint32]context.CancelFunc{}, watch: newWatch(handshakeTime, c.Expire)}
	defer s.watch.stop()
	if err := s.out.Hello(wire.Hello{Version: wire.Version, Home: c.Home}); err != nil {
		return fmt.Errorf("greet the host: %w", err)
	}
	r := wire.NewReader(bufio.NewReaderSize(in, 64<<10))
	if err := s.greet(r); err != nil {
		return err
	}
	err := s.apart.Open(s.user)
	if err != nil {
		return err
	}
	if s.bulk, err = worktree.OpenBulk(c.Disk); err != nil {
		return err
	}
	defer s.bulk.Folder.Close()
	s.processes = process.NewTable(s.apart)
	s.env = process.CommandEnv(os.Environ())
	if s.apart != nil {
		s.env = process.Unique(s.apart.User.InEnvironment(s.env))
	}
	s.repo = worktree.Open(s.workdir, filepath.Join(c.Home, "git"), s.bulk)
	go s.takeGit()
	stop := s.watchDisk()
	defer stop()
	err = s.answer(r)
	cancel()
	s.processes.EndAll()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// takeGit copies git for sandboxd before the first command runs, which could replace it.
func (s *Server) takeGit() {
	defer close(s.taken)
	if s.apart == nil {
		return
	}
	program, err := worktree.CopyGit(context.Background(), s.processes, s.bulk.Path("scratch"), s.env, filepath.Join(s.home, "program"))
	if err == nil {
		s.repo.Program = program
		return
	}
	// Commands may replace the image's git before it is needed.
	s.repo.Program = []string{"/nonexistent/git"}
	s.repo.NoGit = err
}

// greet reads and applies the host's hello.
func (s *Server) greet(r *wire.Reader) error {
	h, err := r.Next()
	if err != nil {
		return fmt.Errorf("read hello: %w", err)
	}
	var hello wire.Hello
	if h.Kind != wire.KindHello {
		return fmt.Errorf("frame of kind %d instead of a hello", h.Kind)
	}
	if err := r.Decode(h, &hello); err != nil {
		return fmt.Errorf("read hello: %w", err)
	}
	if hello.Version != wire.Version {
		problem := fmt.Sprintf("sandboxd speaks version %d, the host %d", wire.Version, hello.Version)
		return errors.Join(errors.New(problem), s.out.Hello(wire.Hello{Version: wire.Version, Problem: problem}))
	}
	s.workdir, s.silence, s.user, s.disk.limit = hello.Workdir, hello.Silence, hello.User, hello.Disk
	s.watch.silentFor(s.silence)
	s.watch.until(hello.Deadline)
	return nil
}

// answer reads requests and answers them concurrently.
func (s *Server) answer(r *wire.Reader) error {
	bodies := map[uint32][]byte{}
	for {
		h, err := r.Next()
		if err != nil {
			return err
		}
		s.watch.silentFor(s.silence)
		switch h.Kind {
		case wire.KindData, wire.KindPacked:
			if bodies[h.ID], err = r.Append(bodies[h.ID], h); err != nil {
				return err
			}
		case wire.KindHead:
			var req wire.Request
			if err := r.Decode(h, &req); err != nil {
				return err
			}
			body := bodies[h.ID]
			delete(bodies, h.ID)
			s.begin(h.ID, req, body)
		case wire.KindCancel:
			s.cancel(h.ID)
		case wire.KindPing:
			if err := s.out.Signal(wire.KindPong, h.ID); err != nil {
				return err
			}
		default:
			return fmt.Errorf("frame of kind %d from the host", h.Kind)
		}
	}
}

// begin answers a request in a goroutine that cancel can cancel.
func (s *Server) begin(id uint32, req wire.Request, body []byte) {
	ctx, cancel := context.WithCancel(s.life)
	s.mu.Lock()
	s.cancels[id] = cancel
	s.mu.Unlock()
	go func() {
		defer s.cancel(id)
		emit := func(p []byte) { _ = s.out.Data(id, p) } // a broken stream ends answer
		resp := s.do(ctx, req, body, emit)
		if err := s.out.Head(id, resp); err != nil {
			_ = s.out.Head(id, wire.Response{Fault: wire.FaultOther, Message: err.Error()})
		}
	}()
}

func (s *Server) cancel(id uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.cancels[id]; cancel != nil {
		cancel()
		delete(s.cancels, id)
	}
}
