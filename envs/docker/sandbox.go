package docker

import (
	"context"
	"errors"
	"sync"

	"relabel/envs"
	"relabel/envs/remote"
)

// Sandbox is a running container. It implements envs.Sandbox; the session with its
// sandboxd does all but the container's end.
type Sandbox struct {
	*remote.Session
	host *Host
	id   string
	name string

	mu      sync.Mutex
	removed bool
}

var _ envs.Sandbox = (*Sandbox)(nil)

// ID is the container's id.
func (s *Sandbox) ID() string { return s.id }

// HostName is the engine's.
func (s *Sandbox) HostName() string { return s.host.Name() }

// Close removes the container: see envs.Sandbox. After an error it may be called again.
func (s *Sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return nil
	}
	ctx, cancel := s.host.cleanUpContext(ctx)
	defer cancel()
	// sandboxd's end ends the container; the engine is asked all the same, because a
	// sandboxd that hangs would not.
	err := errors.Join(s.Session.Close(), s.host.remove(ctx, s.id))
	s.removed = err == nil
	return err
}
