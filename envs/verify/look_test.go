package verify

import (
	"context"
	"sync"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
)

// watchedHost notes how long the looks at its containers may take.
type watchedHost struct {
	envs.Host
	mu    sync.Mutex
	looks map[string]time.Duration
}

func (h *watchedHost) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	s, err := h.Host.Create(ctx, spec)
	return watchedSandbox{s, h}, err
}

type watchedSandbox struct {
	envs.Sandbox
	host *watchedHost
}

func (s watchedSandbox) Run(ctx context.Context, cmd envs.Command) (envs.Result, error) {
	s.host.mu.Lock()
	s.host.looks[cmd.Args[2]] = cmd.Timeout
	s.host.mu.Unlock()
	return s.Sandbox.Run(ctx, cmd)
}

// Code under test may have replaced bash by a program that never ends.
func TestLooksAfterTheTestsTakeMinutesAtMost(t *testing.T) {
	b := newBench(t)
	host := &watchedHost{Host: b.host, looks: map[string]time.Duration{}}
	b.host = host
	b.expect(relabel.VerdictTestsPassed, gold)
	for name, script := range map[string]string{"the end of what is left": endScript, "the stamps of the tests": stampScript} {
		if limit := host.looks[script]; limit <= 0 || limit > 5*time.Minute {
			t.Errorf("%s: %v", name, limit)
		}
	}
}
