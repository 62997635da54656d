// Package inside is what sandboxd does inside a sandbox: it runs commands, reads and
// writes files, and tells the working tree's fingerprint and patch, as asked for over
// one stream of wire frames.
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

// handshakeTime is how long the host may take to say hello.
const handshakeTime = time.Minute

// Config says where and how sandboxd works.
type Config struct {
	// Home is a folder for files of its own that commands cannot reach. It may be small.
	Home string
	// Disk is a folder in which it makes one for what may be large.
	Disk string
	// Separation keeps commands away from this process; nil runs them as this process.
	Separation *process.Separation
	// Expire is called when the host has been silent for too long or the deadline is over.
	Expire func()
}

// Server answers one host.
type Server struct {
	workdir   string
	home      string // Config.Home
	bulk      *worktree.Bulk
	apart     *process.Separation
	disk      diskUse
	user      string   // whom commands run as, in the form of an image's USER
	env       []string // what commands see
	processes *process.Table
	out       *wire.Writer
	repo      *worktree.Repository
	taken     chan struct{} // closed once git was copied, or could not be
	watch     *watch
	silence   time.Duration

	mu      sync.Mutex
	cancels map[uint32]context.CancelFunc
}

// Serve greets the host on out and answers what it asks on in until in ends, which is
// the host's going, and returns nil then.
func Serve(in io.Reader, out io.Writer, c Config) error {
	s := &Server{home: c.Home, apart: c.Separation, out: wire.NewWriter(out), taken: make(chan struct{}),
		cancels: map[uint32]context.CancelFunc{}, watch: newWatch(c.Expire)}
	defer s.watch.stop()
	s.watch.silentFor(handshakeTime)
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
	s.cancelAll()
	s.processes.EndAll()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// takeGit copies git for our own use, where commands run beside us. Commands wait for that.
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
	// The image's own may have been replaced by the time that it is needed.
	s.repo.Program = []string{"/nonexistent/git"}
	s.repo.NoGit = err
}

// greet reads the host's hello.
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

// answer reads requests and has each answered beside the others.
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

// begin answers a request in a goroutine that cancel reaches.
func (s *Server) begin(id uint32, req wire.Request, body []byte) {
	ctx, cancel := context.WithCancel(context.Background())
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

// cancelAll ends what is still going on, because the host has gone.
func (s *Server) cancelAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cancel := range s.cancels {
		cancel()
	}
}
