package bench

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"relabel"
	"relabel/envs"
)

// host makes sandboxes that are nothing but the time they take.
type host struct {
	name  string
	times times
}

// times are how long things take, as the benchmark states it.
type times struct {
	Start   time.Duration // of a sandbox
	Command time.Duration
	Tree    time.Duration // of reading the working tree: ours, no part of any ideal
	Verify  time.Duration
}

func (h *host) Name() string                                                   { return h.name }
func (h *host) EnsureImage(context.Context, string) error                      { return nil }
func (h *host) HasImage(context.Context, string) (bool, error)                 { return true, nil }
func (h *host) Reap(context.Context, func(envs.Labels) bool) ([]string, error) { return nil, nil }
func (h *host) Tidy(context.Context) error                                     { return nil }
func (h *host) MakeRoom(context.Context, string, []string) (bool, error)       { return true, nil }
func (h *host) Describe(context.Context, string) (relabel.ImageFacts, error) {
	return relabel.ImageFacts{State: relabel.ImagePresent}, nil
}
func (h *host) Close() error { return nil }

func (h *host) Look(context.Context) (envs.Condition, error) {
	return envs.Condition{CPUs: 64, Free: -1}, nil
}

func (h *host) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	return &sandbox{host: h, name: spec.Name, rand: rand.New(rand.NewPCG(rand.Uint64(), 1))}, spend(ctx, h.times.Start)
}

// sandbox is one of a host's. Its methods are called by one goroutine.
type sandbox struct {
	host  *host
	name  string
	rand  *rand.Rand
	trees int
}

// Run takes the stated time for an agent's command, and none for the scaffold's own.
func (s *sandbox) Run(ctx context.Context, c envs.Command) (envs.Result, error) {
	if own := len(c.Args) > 3; own {
		return envs.Result{Output: []byte(strings.Repeat("ab", 20)), Ended: envs.EndedExit}, ctx.Err()
	}
	err := spend(ctx, s.host.times.Command)
	return envs.Result{Output: []byte(piece(s.rand, observationLength)), Ended: envs.EndedExit, Elapsed: s.host.times.Command}, err
}

func (s *sandbox) Fingerprint(ctx context.Context) (string, error) {
	s.trees++
	return fmt.Sprintf("%040x", s.trees), spend(ctx, s.host.times.Tree)
}

func (s *sandbox) Patch(ctx context.Context, _ string) (envs.Patch, error) {
	return envs.Patch{Diff: []byte("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n")}, ctx.Err()
}

func (s *sandbox) ReadFile(context.Context, string, int64) ([]byte, int64, error) {
	return nil, 0, fs.ErrNotExist
}
func (s *sandbox) WriteFile(context.Context, string, []byte, fs.FileMode) error { return nil }
func (s *sandbox) Stat(context.Context, string) (envs.FileInfo, error) {
	return envs.FileInfo{}, fs.ErrNotExist
}
func (s *sandbox) List(context.Context, string, int, int) ([]envs.FileInfo, bool, error) {
	return nil, false, fs.ErrNotExist
}
func (s *sandbox) EndCommands(context.Context) error         { return nil }
func (s *sandbox) Altered(context.Context) ([]string, error) { return nil, nil }
func (s *sandbox) Close(context.Context) error               { return nil }
func (s *sandbox) ID() string                                { return s.name }
func (s *sandbox) HostName() string                          { return s.host.name }

// spend lets time pass.
func spend(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
