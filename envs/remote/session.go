// Package remote turns a stream to a sandboxd into the methods of envs.Sandbox.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"relabel"
	"relabel/envs/wire"
)

// DefaultSilence is how long sandboxd keeps running without contact from its host.
const DefaultSilence = 2 * time.Minute

// Config has the settings of a sandboxd.
type Config struct {
	Workdir  string    // where commands start
	Disk     int64     // bytes that commands may write to the container's disk; 0 means no limit
	User     string    // the user of commands, in the form of an image's USER; "" is root
	Deadline time.Time // sandboxd ends then; zero means never
	// Silence is how long sandboxd keeps running without contact from the host; 0 means
	// DefaultSilence. The host pings eight times as often, and ends the session after three quarters
	// of it without an answer.
	Silence time.Duration
	// Why, if set, finds the cause of a broken session: its result replaces the stream's error.
	Why func(broke error) error
}

// Session is a conversation with one sandboxd. It is safe for concurrent use.
type Session struct {
	stream io.ReadWriteCloser
	out    *wire.Writer
	home   string
	config Config

	mu      sync.Mutex
	pending map[uint32]chan answer
	bodies  map[uint32][]byte
	lastID  uint32
	heard   time.Time // when the last frame arrived
	dead    error     // why the session ended
	over    chan struct{}
	breaks  sync.Once
	orphan  chan struct{} // closed when the session's owner is gone
}

type answer struct {
	head wire.Response
	body []byte
	err  error
}

// Open performs the handshake with the sandboxd behind stream. It fails with CodeEnvironment, also if
// ctx ends before. The session then owns stream, and no longer depends on ctx: see OwnedBy.
func Open(ctx context.Context, stream io.ReadWriteCloser, c Config) (*Session, error) {
	if c.Silence <= 0 {
		c.Silence = DefaultSilence
	}
	s := &Session{
		stream: stream, out: wire.NewWriter(stream), config: c, pending: map[uint32]chan answer{}, bodies: map[uint32][]byte{},
		heard: time.Now(), over: make(chan struct{}), orphan: make(chan struct{}),
	}
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	r := wire.NewReader(stream)
	err := s.greet(r, wire.Hello{Version: wire.Version, Workdir: c.Workdir, User: c.User, Disk: c.Disk, Silence: c.Silence, Deadline: c.Deadline})
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		stream.Close()
		return nil, relabel.Errorf(relabel.CodeEnvironment, "the sandbox did not start").Because(err)
	}
	go s.receive(r)
	go s.ping()
	if _, _, err := s.call(ctx, wire.Request{Op: wire.OpReady}, nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Session) greet(r *wire.Reader, mine wire.Hello) error {
	h, err := r.Next()
	if err != nil {
		return fmt.Errorf("wait for sandboxd: %w", err)
	}
	if h.Kind != wire.KindHello {
		return fmt.Errorf("frame of kind %d instead of a hello", h.Kind)
	}
	var theirs wire.Hello
	if err := r.Decode(h, &theirs); err != nil {
		return fmt.Errorf("read sandboxd's hello: %w", err)
	}
	if theirs.Version != mine.Version {
		return fmt.Errorf("sandboxd speaks version %d, not %d: it belongs to another build", theirs.Version, mine.Version)
	}
	s.home = theirs.Home
	return s.out.Hello(mine)
}

// Home is the folder of sandboxd's own files in the sandbox.
func (s *Session) Home() string { return s.home }

// Close ends the session, and with it sandboxd. It is safe to call more than once.
func (s *Session) Close() error {
	s.end(errors.New("the sandbox is closed"))
	return nil
}

// end makes all current and later calls fail because of err. The first reason is kept.
func (s *Session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead != nil {
		return
	}
	s.dead = err
	close(s.over)
	s.stream.Close()
	for id, wait := range s.pending {
		wait <- answer{err: s.gone()}
		delete(s.pending, id)
	}
}

// OwnedBy stops the pings once ctx ends: sandboxd then ends after its silence, unless it receives
// requests. It may be called once.
func (s *Session) OwnedBy(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { close(s.orphan) })
	go func() {
		<-s.over
		stop()
	}()
}

// broke ends the session because its stream broke, unless it has ended already.
func (s *Session) broke(err error) {
	s.breaks.Do(func() {
		s.mu.Lock()
		over := s.dead != nil
		s.mu.Unlock()
		if !over && s.config.Why != nil {
			err = s.config.Why(err)
		}
		s.end(err)
	})
}

// gone is the error of a session that has ended, with its reason if that is safe to show.
func (s *Session) gone() error {
	var known *relabel.Error
	if errors.As(s.dead, &known) {
		return relabel.Errorf(relabel.CodeEnvironment, "the sandbox is gone: %s", known.Message).Because(s.dead)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "the sandbox is gone").Because(s.dead)
}

// receive passes answers to the waiting calls until the stream ends.
func (s *Session) receive(r *wire.Reader) {
	for {
		if err := s.receiveFrame(r); err != nil {
			s.broke(err)
			return
		}
	}
}

// receiveFrame processes one frame. Only the receiver uses bodies.
func (s *Session) receiveFrame(r *wire.Reader) error {
	h, err := r.Next()
	if err != nil {
		return err
	}
	switch h.Kind {
	case wire.KindData, wire.KindPacked:
		if !s.asked(h.ID) {
			return fmt.Errorf("sandboxd answers request %d, which was not made", h.ID)
		}
		if s.bodies[h.ID], err = r.Append(s.bodies[h.ID], h); err != nil {
			return err
		}
	case wire.KindHead:
		a := answer{body: s.bodies[h.ID]}
		delete(s.bodies, h.ID)
		if err := r.Decode(h, &a.head); err != nil {
			return err
		}
		s.settle(h.ID, a)
	case wire.KindPong:
	default:
		return fmt.Errorf("frame of kind %d from sandboxd", h.Kind)
	}
	s.mu.Lock()
	s.heard = time.Now()
	s.mu.Unlock()
	return nil
}

// asked reports whether a request is pending.
func (s *Session) asked(id uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending[id] != nil
}

func (s *Session) settle(id uint32, a answer) {
	s.mu.Lock()
	wait := s.pending[id]
	delete(s.pending, id)
	s.mu.Unlock()
	if wait != nil {
		wait <- a
	}
}

// ping resets sandboxd's dead man's switch, and ends the session when sandboxd falls silent.
func (s *Session) ping() {
	tick := time.NewTicker(s.config.Silence / 8)
	defer tick.Stop()
	for {
		select {
		case <-s.over:
			return
		case <-s.orphan:
			return
		case now := <-tick.C:
			s.mu.Lock()
			quiet := now.Sub(s.heard)
			s.mu.Unlock()
			if quiet > s.config.Silence*3/4 {
				s.broke(fmt.Errorf("sandboxd has not answered for %s", quiet.Round(time.Second)))
				return
			}
			go s.signal(wire.KindPing, 0) // a write to a stream that hangs does not return
		}
	}
}

// call sends a request and waits for its answer. When ctx ends it cancels the request and returns
// the cause; after sandboxd's own deadline, and for a failed request, it returns the error of that.
func (s *Session) call(ctx context.Context, req wire.Request, body []byte) (wire.Response, []byte, error) {
	if limit := deadlineOf(req); limit > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, limit, relabel.Errorf(relabel.CodeEnvironment,
			"the sandbox hangs: it did not answer %q within %s", req.Op, limit))
		defer cancel()
		ctx = bounded
	}
	a := s.exchange(ctx, req, body)
	if a.err == nil {
		a.err = failure(a.head, req.Path)
	}
	return a.head, a.body, a.err
}

// exchange is call without the deadline.
func (s *Session) exchange(ctx context.Context, req wire.Request, body []byte) answer {
	wait := make(chan answer, 1)
	s.mu.Lock()
	if s.dead != nil {
		defer s.mu.Unlock()
		return answer{err: s.gone()}
	}
	s.lastID++
	id := s.lastID
	s.pending[id] = wait
	s.mu.Unlock()
	go s.send(id, req, body) // a write to a stream that hangs does not return
	select {
	case a := <-wait:
		return a
	case <-ctx.Done():
	}
	go s.signal(wire.KindCancel, id)
	// A command is killed after its grace period.
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-wait:
	case <-timer.C:
	}
	return answer{err: fmt.Errorf("%s in the sandbox: %w", req.Op, context.Cause(ctx))}
}

// signal sends a frame without payload; a failure ends the session.
func (s *Session) signal(kind wire.Kind, id uint32) {
	if err := s.out.Signal(kind, id); err != nil {
		s.broke(err)
	}
}

// send sends a request. A request that is too long is answered with an error; any other failure ends
// the session.
func (s *Session) send(id uint32, req wire.Request, body []byte) {
	err := s.out.Message(id, req, body)
	switch {
	case errors.Is(err, wire.ErrTooLong):
		s.settle(id, answer{err: relabel.Errorf(relabel.CodeInvalid, "the request to the sandbox is too long").Because(err)})
	case err != nil:
		s.broke(err)
	}
}

// Over is closed when the session has ended.
func (s *Session) Over() <-chan struct{} { return s.over }
