package main

import (
	"context"
	"fmt"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/taskbuild/inject"
)

// rooms implements inject.Containers with sandboxes.
type rooms struct {
	host   envs.Host
	limits envs.Limits
}

// roomTime bounds the life of a container of a killed build.
const roomTime = 12 * time.Hour

// Open implements inject.Containers.
func (r rooms) Open(ctx context.Context, task relabel.Task) (inject.Container, error) {
	s, err := r.host.Create(ctx, envs.Spec{
		Name:   envs.SandboxName(relabel.NewID(), 0, "inject"),
		Labels: envs.Labels{Purpose: "inject", Deadline: time.Now().Add(roomTime)},
		Image:  task.Image, Workdir: task.Workdir, Limits: r.limits,
	})
	if err != nil {
		return nil, err
	}
	return room{s}, nil
}

// room implements inject.Container.
type room struct{ envs.Sandbox }

// WriteFile implements inject.Container.
func (r room) WriteFile(ctx context.Context, path string, data []byte) error {
	return r.Sandbox.WriteFile(ctx, path, data, 0o644)
}

// ReadFile implements inject.Container.
func (r room) ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	data, size, err := r.Sandbox.ReadFile(ctx, path, limit)
	if err == nil && size > limit {
		err = fmt.Errorf("%s has %d bytes, more than %d", path, size, limit)
	}
	return data, err
}

// Run implements inject.Container.
func (r room) Run(ctx context.Context, script string, timeout time.Duration) (inject.Ran, error) {
	result, err := r.Sandbox.Run(ctx, envs.Command{Args: []string{"bash", "-c", script}, Timeout: timeout})
	output := result.Output
	if result.Tail != nil {
		output = result.Tail
	}
	return inject.Ran{Exit: result.Exit, TimedOut: result.Ended == envs.EndedTimeout, Output: output}, err
}
