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

// DefaultSilence is how long sandboxd lives on without a word from its host.
const DefaultSilence = 2 * time.Minute

// Config says what a sandboxd is to be.
type Config struct {
	Workdir  string    // where commands start
	Disk     int64     // bytes that commands may write to the container's disk; 0 is any number
	User     string    // whom commands run as, in the form of an image's USER; "" is root
	Deadline time.Time // it ends then in any case; zero never
	// Silence is how long the host may say nothing until sandboxd ends itself; 0 means
	// DefaultSilence. The host pings eight times as often, and gives sandboxd up after three
	// quarters of it without an answer.
	Silence time.Duration
	// Why, if set, finds out why a session broke off: what it returns takes the place of
	// the stream's error.
	Why func(broke error) error
}

// Stream is a connection to a sandboxd.
type Stream interface {
	io.Reader
	io.Writer
	io.Closer
}

// Session is a conversation with one sandboxd. It is safe for concurrent use.
type Session struct {
	stream Stream
	out    *wire.Writer
	home   string
	config Config

	mu      sync.Mutex
	pending map[uint32]chan answer
	bodies  map[uint32][]byte
	lastID  uint32
	heard   time.Time
	dead    error // why the session is over
	over    chan struct{}
	breaks  sync.Once
	orphan  chan struct{} // closed when nobody owns the session any more
}

// errTooLong says that a request's body is longer than any may be.
var errTooLong = errors.New("too long")

type answer struct {
	head wire.Response
	body []byte
	err  error
}

// Open shakes hands with the sandboxd behind stream. It fails with CodeEnvironment, also
// when ctx is over before. The session then owns stream, and is ctx's no more: see OwnedBy.
func Open(ctx context.Context, stream Stream, c Config) (*Session, error) {
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
		return fmt.Errorf("sandboxd speaks version %d, not %d: it is of another build", theirs.Version, mine.Version)
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

// end makes every call, now and later, fail because of err. The first reason stays.
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

// OwnedBy has the session cease to say that anyone is there once ctx is over: sandboxd then
// ends itself after its silence, unless it is spoken to. It is to be called once.
func (s *Session) OwnedBy(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { close(s.orphan) })
	go func() {
		<-s.over
		stop()
	}()
}

// broke ends the session because its stream broke off, unless it is over already.
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

// gone is the error of a session that is over: with the words of its reason, where that is
// fit to be shown.
func (s *Session) gone() error {
	var known *relabel.Error
	if errors.As(s.dead, &known) {
		return relabel.Errorf(relabel.CodeEnvironment, "the sandbox is gone: %s", known.Message).Because(s.dead)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "the sandbox is gone").Because(s.dead)
}

// receive hands answers to those who wait for them, until the stream ends.
func (s *Session) receive(r *wire.Reader) {
	for {
		if err := s.receiveFrame(r); err != nil {
			s.broke(err)
			return
		}
	}
}

// receiveFrame takes one frame. bodies belongs to the receiver alone.
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

// asked says whether the answer to a request is still to come.
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

// ping keeps the dead man's switch of sandboxd from falling, and finds out when it has
// gone without a word.
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
			// Beside the clock: a write to a stream that hangs does not return.
			go func() {
				if err := s.out.Signal(wire.KindPing, 0); err != nil {
					s.broke(err)
				}
			}()
		}
	}
}

// call sends a request and waits for its answer. When ctx is over the request is
// cancelled, and call returns ctx's error; when sandboxd's own deadline for it is over,
// CodeEnvironment.
func (s *Session) call(ctx context.Context, req wire.Request, body []byte) (wire.Response, []byte, error) {
	if limit := deadlineOf(req); limit > 0 {
		bounded, cancel := context.WithTimeoutCause(ctx, limit, hung(req.Op, limit))
		defer cancel()
		ctx = bounded
	}
	return s.exchange(ctx, req, body)
}

// exchange is call without the deadline.
func (s *Session) exchange(ctx context.Context, req wire.Request, body []byte) (wire.Response, []byte, error) {
	wait := make(chan answer, 1)
	s.mu.Lock()
	if s.dead != nil {
		defer s.mu.Unlock()
		return wire.Response{}, nil, s.gone()
	}
	s.lastID++
	id := s.lastID
	s.pending[id] = wait
	s.mu.Unlock()
	// Beside the wait: a write to a stream that hangs does not return.
	go s.send(id, req, body)
	select {
	case a := <-wait:
		return a.head, a.body, a.err
	case <-ctx.Done():
	}
	go func() {
		if err := s.out.Signal(wire.KindCancel, id); err != nil {
			s.broke(err)
		}
	}()
	// A command has its grace before it is killed; one that is over then is no longer heard.
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-wait:
	case <-timer.C:
	}
	return wire.Response{}, nil, fmt.Errorf("%s in the sandbox: %w", req.Op, context.Cause(ctx))
}

// send sends a request. One that is too long is answered with an error; any other failure
// is the end of the session.
func (s *Session) send(id uint32, req wire.Request, body []byte) {
	var err error
	if len(body) > wire.MaxBody {
		err = fmt.Errorf("%w: %d bytes for one request, the limit is %d", errTooLong, len(body), wire.MaxBody)
	} else {
		err = s.out.Message(id, req, body)
	}
	switch {
	case errors.Is(err, wire.ErrHeadTooLong), errors.Is(err, errTooLong):
		s.settle(id, answer{err: relabel.Errorf(relabel.CodeInvalid, "the request to the sandbox is too long").Because(err)})
	case err != nil:
		s.broke(err)
	}
}

// Over is closed when the session has ended.
func (s *Session) Over() <-chan struct{} { return s.over }
