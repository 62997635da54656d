// Package dockertest provides Docker hosts, engines, images and registries for tests.
package dockertest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/envstest"
)

// NewHost returns a host of the default engine with a new instance. A sandbox that is left behind
// fails the test and is removed.
func NewHost(t testing.TB) *docker.Host {
	t.Helper()
	return NewHostWith(t, docker.Config{})
}

// NewHostWith is NewHost with settings.
func NewHostWith(t testing.TB, c docker.Config) *docker.Host {
	t.Helper()
	if c.Instance == "" {
		c.Instance = "test-" + uuid.NewString()
	}
	if c.Sandboxd == "" {
		c.Sandboxd = envstest.Sandboxd(t)
	}
	host, err := docker.NewHost(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		awaitRemovals(host)
		left, err := host.Reap(context.Background(), func(envs.Labels) bool { return false })
		if err != nil {
			t.Errorf("clean up: %v", err)
		}
		if len(left) > 0 {
			t.Errorf("sandboxes left behind: %v", left)
		}
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	return host
}

// awaitRemovals waits up to two minutes for the removal of ended sandboxes: a busy engine removes them
// later.
func awaitRemovals(host *docker.Host) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		there := 0
		if _, err := host.Reap(context.Background(), func(envs.Labels) bool { there++; return true }); err != nil || there == 0 {
			return
		}
	}
}
