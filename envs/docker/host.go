// Package docker makes sandboxes on a Docker engine, 20.10 to 29, through its API.
//
// A sandbox's container runs sandboxd as its first process. sandboxd is sent over the container's
// standard input, and the same stream carries its protocol. So a start consists of a create, an attach
// and a start; a separate exec would take a third longer (see BenchmarkStart).
package docker

import (
	"bytes"
	"cmp"
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

// Config has the settings of a Host.
type Config struct {
	Address  string // see ParseAddress; "" means DOCKER_HOST, or the default socket
	Instance string // the owner in the labels of containers; must not be empty
	Sandboxd string // path of sandboxd; "" means $RELABEL_SANDBOXD, or the file beside this program
	// Silence is how long a sandbox is kept without contact from its owner; 0 means
	// remote.DefaultSilence.
	Silence time.Duration
	Times   Times // fields that are 0 are as in DefaultTimes
	Images  Images
	// MinFree is the number of bytes to keep free on the disk of the engine's images and layers, if it
	// is on this machine; 0 disables the check.
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

	pulling   chan struct{} // a semaphore of concurrent pulls
	mu        sync.Mutex
	pulls     map[string]*pull
	declared  map[string]imageFacts      // of images that were used
	described map[string][]relabel.Layer // of images in registries, see expected
	engine    engineFacts
}

var _ envs.Engine = (*Host)(nil)

// NewHost prepares an engine's client without connecting. It fails with CodeInvalid for an invalid
// address or instance, and with CodeUnavailable if sandboxd is missing.
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
	if c.Images.AtOnce <= 0 {
		c.Images.AtOnce = 2
	}
	return &Host{
		address: address, client: engine, instance: c.Instance, sandboxd: sandboxd, silence: c.Silence, times: c.Times.orDefault(),
		images: c.Images, minFree: c.MinFree, free: c.Free, log: c.Log.With().Str("docker", address.Name).Logger(),
		pulling: make(chan struct{}, c.Images.AtOnce), pulls: map[string]*pull{}, declared: map[string]imageFacts{}, described: map[string][]relabel.Layer{},
	}, nil
}

// readSandboxd reads the static binary for every sandbox: see Config.Sandboxd. It refuses one of
// another protocol version, which would fail in every sandbox.
func readSandboxd(path string) ([]byte, error) {
	if path = cmp.Or(path, os.Getenv("RELABEL_SANDBOXD")); path == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, relabel.Errorf(relabel.CodeUnavailable, "sandboxd cannot be found: name it in RELABEL_SANDBOXD").Because(err)
		}
		path = filepath.Join(filepath.Dir(self), "sandboxd")
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s does not exist: build sandboxd with `make build`, or set RELABEL_SANDBOXD to its path", path).Because(err)
	}
	if !bytes.Contains(binary, []byte(wire.Mark)) {
		return nil, relabel.Errorf(relabel.CodeUnavailable, "%s is not the sandboxd of this version of relabel: build both with `make build`, or name the right one in RELABEL_SANDBOXD", path)
	}
	return binary, nil
}

// Name is the engine's address without settings.
func (h *Host) Name() string { return h.address.Name }

// Slots is the address's maximum number of concurrent sandboxes; 0 if it has none.
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
	advice := "check that it runs there, and that this user may access it"
	if h.address.url.Scheme == "unix" {
		advice = "install and start one (`make install`), and check that this user may access it"
	}
	return relabel.Errorf(relabel.CodeUnavailable, "the Docker engine at %s does not answer: %s", h.Name(), advice).Because(errors.Join(envs.ErrEngine, err))
}

// Close releases the engine's connections. Sandboxes keep running.
func (h *Host) Close() error { return h.client.Close() }

// failed is a CodeEnvironment error of the engine. If the caller's context ended, it wraps the cause of
// that. It wraps envs.ErrEngine unless the engine refused the request for a reason in the request.
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
