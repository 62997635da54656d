package envstest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"relabel"
	"relabel/envs"
)

func (s *suite) testLife(t *testing.T) {
	t.Run("closed twice, and on a cancelled context", func(t *testing.T) {
		b := s.sandbox(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 {
			if err := b.Close(ctx); err != nil {
				t.Error(err)
			}
		}
		if b.ID() == "" {
			t.Error("it has no id")
		}
	})
	t.Run("a missing image", func(t *testing.T) {
		host, spec := s.newHost(t), s.spec()
		spec.Image = "127.0.0.1:1/relabel/no-such-image:none"
		if err := host.EnsureImage(t.Context(), spec.Image); relabel.CodeOf(err) != relabel.CodeImageMissing {
			t.Errorf("ensure: %v", err)
		}
		if _, err := host.Create(t.Context(), spec); relabel.CodeOf(err) != relabel.CodeImageMissing {
			t.Errorf("create: %v", err)
		}
		if err := host.EnsureImage(t.Context(), s.image); err != nil {
			t.Error(err)
		}
	})
	t.Run("a missing runtime", func(t *testing.T) {
		host, spec := s.newHost(t), s.spec()
		spec.Limits.Runtime = "no-such-runtime"
		_, err := host.Create(t.Context(), spec)
		environmentFailed(t, "create", err)
	})
	t.Run("a sandbox replaces an ended one of its name", s.testReplaced)
	t.Run("Reap removes sandboxes that are not kept", s.testReaped)
	t.Run("creation on a cancelled context", func(t *testing.T) {
		host := s.newHost(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		if _, err := host.Create(ctx, s.spec()); err == nil {
			t.Error("created on a cancelled context")
		}
		if left, err := host.Reap(t.Context(), func(envs.Labels) bool { return false }); err != nil || left != nil {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func (s *suite) testReplaced(t *testing.T) {
	host, spec := s.newHost(t), s.spec()
	spec.Labels.Deadline = time.Now().Add(time.Hour)
	first := s.create(t, host, spec)
	first.write("mine", "")
	short := spec
	short.Labels.Deadline = time.Now().Add(-time.Second) // it ends at once
	short.Name += "-2"
	dead, err := host.Create(t.Context(), short)
	if err == nil {
		_, err = dead.Run(t.Context(), envs.Command{Args: []string{"sleep", "100"}, Timeout: runTime})
		defer func() { _ = dead.Close(t.Context()) }()
	}
	environmentFailed(t, "a sandbox after its deadline", err)
	short.Labels.Deadline = spec.Labels.Deadline
	second := s.create(t, host, short)
	second.prints("ls", "")
	first.bash("test -e mine")
}

func (s *suite) testReaped(t *testing.T) {
	host, keep, drop := s.newHost(t), s.spec(), s.spec()
	drop.Labels.Attempt = 7
	drop.Labels.Deadline = time.Now().Add(time.Hour).Truncate(time.Second)
	kept, dropped := s.create(t, host, keep), s.create(t, host, drop)
	var seen []envs.Labels
	removed, err := host.Reap(t.Context(), func(l envs.Labels) bool {
		seen = append(seen, l)
		return l.Trajectory == keep.Labels.Trajectory
	})
	if err != nil || !slices.Equal(removed, []string{drop.Name}) || len(seen) != 2 {
		t.Errorf("removed %v, %v; labels: %+v", removed, err, seen)
	}
	for _, l := range seen {
		if l.Trajectory == drop.Labels.Trajectory && (l.Attempt != 7 || l.Purpose != "rollout" || !l.Deadline.Equal(drop.Labels.Deadline) || l.Instance == "") {
			t.Errorf("labels: %+v", l)
		}
	}
	kept.bash("true")
	_, err = dropped.Run(t.Context(), envs.Command{Args: []string{"true"}})
	environmentFailed(t, "a command in a removed sandbox", err)
}
