package remote_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"relabel"
	"relabel/envs"
	"relabel/envs/remote"
	"relabel/envs/wire"
)

// hanging plays a sandboxd that is ready, answers pings, and answers no other request.
func hanging(box net.Conn) {
	defer box.Close()
	w, r := wire.NewWriter(box), wire.NewReader(box)
	if w.Hello(wire.Hello{Version: wire.Version}) != nil {
		return
	}
	for ready := false; ; {
		h, err := r.Next()
		if err != nil {
			return
		}
		if _, err := r.Append(nil, h); err != nil {
			return
		}
		switch {
		case h.Kind == wire.KindPing:
			err = w.Signal(wire.KindPong, h.ID)
		case h.Kind == wire.KindHead && !ready:
			ready = true
			err = w.Head(h.ID, wire.Response{})
		}
		if err != nil {
			return
		}
	}
}

// A command in the kernel's hands, or a file system that is stuck, hangs a request for ever
// while sandboxd lives. The rollout's slot is not held longer than the request's own deadline
// and a margin.
func TestARequestThatHangsEndsAtItsOwnDeadline(t *testing.T) {
	const margin = 3 * time.Minute
	command := envs.Command{Args: []string{"true"}, Timeout: 10 * time.Minute}
	for name, c := range map[string]struct {
		own time.Duration
		ask func(context.Context, *remote.Session) error
	}{
		"command": {command.Timeout, func(ctx context.Context, s *remote.Session) error {
			_, err := s.Run(ctx, command)
			return err
		}},
		"read": {0, func(ctx context.Context, s *remote.Session) error {
			_, _, err := s.ReadFile(ctx, "f", 1)
			return err
		}},
		"write": {0, func(ctx context.Context, s *remote.Session) error {
			return s.WriteFile(ctx, "f", nil, 0)
		}},
		"stat": {0, func(ctx context.Context, s *remote.Session) error {
			_, err := s.Stat(ctx, "f")
			return err
		}},
		"list": {0, func(ctx context.Context, s *remote.Session) error {
			_, _, err := s.List(ctx, "d", 1, 1)
			return err
		}},
		"fingerprint": {10 * time.Minute, func(ctx context.Context, s *remote.Session) error {
			_, err := s.Fingerprint(ctx)
			return err
		}},
		"patch": {10 * time.Minute, func(ctx context.Context, s *remote.Session) error {
			_, err := s.Patch(ctx, "base")
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, box := net.Pipe()
				go hanging(box)
				session, err := remote.Open(t.Context(), host, remote.Config{Workdir: "/"})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
				defer cancel()
				since := time.Now()
				err = c.ask(ctx, session)
				if relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(relabel.Shown(err), "the sandbox hangs") {
					t.Errorf("got %v", err)
				}
				if took := time.Since(since); took < c.own || took > c.own+margin {
					t.Errorf("it took %s", took)
				}
				if err := session.Close(); err != nil {
					t.Error(err)
				}
				synctest.Wait()
			})
		})
	}
}
