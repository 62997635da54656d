// Package docker makes sandboxes on a Docker engine, 20.10 to 29, through its API.
//
// A sandbox's container runs sandboxd as its first process. sandboxd travels over the
// container's standard input at start and is spoken to over the same stream, so a start
// is a create, an attach and a start: an exec beside the main process would cost a third
// of a start again (see BenchmarkStart).
package docker

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/client"
	"github.com/rs/zerolog"

	"relabel"
	"relabel/envs"
	"relabel/envs/wire"
)

// Config says which engine to use, and whose sandboxes it makes there.
type Config struct {
	Address  string // see ParseAddress; "" is DOCKER_HOST, or the default socket
	Instance string // labels what is ours on the engine; must not be empty
	Sandboxd string // the static sandboxd; "" is $RELABEL_SANDBOXD, or the file beside this program
	// Silence is how long a sandbox is kept without contact from its owner; 0 means
	// remote.DefaultSilence.
	Silence time.Duration
	Times   Times // what is 0 is as in DefaultTimes
	Images  Images
	// MinFree is how many bytes are to stay free where the engine keeps its images and
	// layers, as far as that can be seen from here; 0: nobody looks.
	MinFree int64
	Free    func(path string) (bytes int64, err error) // nil means FreeBytes
	Log     zerolog.Logger                             // of pulls and removals
}

// Host makes sandboxes on one engine. It implements envs.Engine.
type Host struct {
	address  Address
	client   *client.Client
	instance string
	sandboxd []byte
	silence  time.Duration
	times    Times
	images   Images
	minFree  int64
	free     func(path string) (int64, error)
	log      zerolog.Logger
	noQuota  atomic.Bool // the engine cannot bound a writable layer

	pulling  chan struct{} // places for pulls at once
	mu       sync.Mutex
	pulls    map[string]*pull
	declared map[string]imageFacts // what images that were used say of themselves
	engine   engineFacts
}

var _ envs.Engine = (*Host)(nil)

// NewHost prepares an engine's client; it asks the engine nothing yet. It fails with
// CodeInvalid for an address or an instance that cannot be, and with CodeUnavailable
// where sandboxd is nowhere.
func NewHost(c Config) (*Host, error) {
	if c.Instance == "" {
		return nil, relabel.Errorf(relabel.CodeInvalid, "a Docker host needs an instance to label its sandboxes with").On("instance")
	}
	address, err := ParseAddress(c.Address)
	if err != nil {
		return nil, err
	}
	sandboxd, err := readSandboxd(c.Sandboxd)
	if err != nil {
		return nil, err
	}
	engine, err := newClient(address)
	if err != nil {
		return nil, err
	}
	if c.Free == nil {
		c.Free = FreeBytes
	}
	return &Host{
		address: address, client: engine, instance: c.Instance, sandboxd: sandboxd, silence: c.Silence, times: c.Times.orDefault(),
		images: c.Images, minFree: c.MinFree, free: c.Free, log: c.Log.With().Str("docker", address.Name).Logger(),
		pulling: make(chan struct{}, c.Images.atOnce()), pulls: map[string]*pull{}, declared: map[string]imageFacts{},
	}, nil
}

// readSandboxd reads the static binary that every sandbox gets: the named one, else that
// of $RELABEL_SANDBOXD, else the file beside this program. One that this program could not
// speak to is refused here: it would fail in every sandbox.
func readSandboxd(path string) ([]byte, error) {
	if path == "" {
		path = os.Getenv("RELABEL_SANDBOXD")
	}
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeUnavailable, "sandboxd cannot be found: name it in RELABEL_SANDBOXD").Because(err)
		}
		path = filepath.Join(filepath.Dir(self), "sandboxd")
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "there is no sandboxd at %s: build it with `make build`, or name it in RELABEL_SANDBOXD", path).Because(err)
	}
	if !bytes.Contains(binary, []byte(wire.Mark)) {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s is no sandboxd of this relabel, but of an older or newer one: build both with `make build`, or name the right one in RELABEL_SANDBOXD", path)
	}
	return binary, nil
}

// Name says which engine this is.
func (h *Host) Name() string { return h.address.Name }

// Slots is how many sandboxes the address allows at once; 0 where it says nothing.
func (h *Host) Slots() int { return h.address.Slots }

// Ping fails with CodeUnavailable while the engine does not answer.
func (h *Host) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.times.Ping)
	defer cancel()
	if _, err := h.client.Ping(ctx); err != nil {
		return h.unreachable(err)
	}
	return nil
}

func (h *Host) unreachable(err error) error {
	advice := "see that it runs there, and that this user may speak to it"
	if h.address.url.Scheme == "unix" {
		advice = "install and start one (`make install`), and see that this user may speak to it"
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the Docker engine at %s does not answer: %s", h.Name(), advice).Because(errors.Join(envs.ErrEngine, err))
}

// Close releases the engine's connections. Sandboxes keep running.
func (h *Host) Close() error { return h.client.Close() }

// failed is a CodeEnvironment error of the engine. Where the caller's own context was
// over, its error is what is returned, wrapped. What the engine refused for a reason that
// lies in the question is no failure of its own.
func failed(ctx context.Context, what string, err error) error {
	switch {
	case ctx.Err() != nil:
		return relabel.Errorf(relabel.CodeEnvironment, "%s: stopped", what).Because(context.Cause(ctx))
	case errors.Is(err, context.DeadlineExceeded):
		return relabel.Errorf(relabel.CodeEnvironment, "Docker did not %s in time", what).Because(errors.Join(envs.ErrEngine, err))
	case errdefs.IsInvalidArgument(err), errdefs.IsNotFound(err), errdefs.IsConflict(err), errdefs.IsPermissionDenied(err), errdefs.IsNotImplemented(err):
	default:
		err = errors.Join(envs.ErrEngine, err)
	}
	return relabel.Errorf(relabel.CodeEnvironment, "Docker could not %s", what).Because(err)
}
