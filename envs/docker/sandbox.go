package docker

import (
	"context"
	"errors"
	"slices"
	"sync"

	"relabel/envs"
	"relabel/envs/remote"
)

// Sandbox is a running container. It implements envs.Sandbox through the session with its sandboxd.
type Sandbox struct {
	*remote.Session
	host *Host
	id   string

	mu      sync.Mutex
	removed bool
}

var _ envs.Sandbox = (*Sandbox)(nil)

// ID is the container's id.
func (s *Sandbox) ID() string { return s.id }

// HostName is the engine's name.
func (s *Sandbox) HostName() string { return s.host.Name() }

// Altered lists the changes of the container's own layer: see envs.Sandbox.
func (s *Sandbox) Altered(ctx context.Context) ([]string, error) {
	call, cancel := context.WithTimeout(ctx, s.host.times.Create)
	defer cancel()
	changes, err := s.host.client.ContainerDiff(call, s.id)
	if err != nil {
		return nil, failed(ctx, "compare "+s.id+" with its image", err)
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	slices.Sort(paths)
	return paths, nil
}

// Close removes the container: see envs.Sandbox. After an error it may be called again.
func (s *Sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.removed {
		return nil
	}
	ctx, cancel := s.host.cleanUpContext(ctx)
	defer cancel()
	// The end of sandboxd ends the container, but a sandboxd that hangs does not end.
	err := errors.Join(s.Session.Close(), s.host.remove(ctx, s.id))
	s.removed = err == nil
	return err
}
