package remote_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"relabel"
	"relabel/envs"
	"relabel/envs/remote"
	"relabel/envs/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// playing plays a sandboxd of a version, which says it is ready and answers the first
// command with the bytes of answer.
func playing(t *testing.T, version int, answer string) net.Conn {
	host, box := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer box.Close()
		w, r := wire.NewWriter(box), wire.NewReader(box)
		if err := w.Hello(wire.Hello{Version: version}); err != nil {
			return
		}
		for i := range 3 { // the host's hello, whether we are ready, a command
			h, err := r.Next()
			if err != nil {
				return
			}
			if _, err := r.Append(nil, h); err != nil {
				return
			}
			if i == 1 && w.Head(1, wire.Response{}) != nil {
				return
			}
		}
		_, _ = io.WriteString(box, answer) // the host may part in the middle of it
		if answer != "" {
			_, _ = io.Copy(io.Discard, box) // it is the host that has to part
		}
	}()
	t.Cleanup(func() { <-done })
	return host
}

func TestSandboxdOfAnotherVersionIsRefused(t *testing.T) {
	_, err := remote.Open(t.Context(), playing(t, wire.Version+1, ""), remote.Config{Workdir: "/"})
	if relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(err.Error(), "version") {
		t.Errorf("got %v", err)
	}
}

func TestSilentSandboxdEndsTheOpeningWithItsContext(t *testing.T) {
	host, box := net.Pipe()
	defer box.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := remote.Open(ctx, host, remote.Config{Workdir: "/"}); relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("got %v", err)
	}
}

func TestAnInvalidFrameEndsTheSession(t *testing.T) {
	for name, garbage := range map[string]string{
		"text": "Segmentation fault\n", "a huge frame": "\xff\xff\xff\xff\x02\x00\x00\x00\x00", "an answer to nothing": "\x00\x00\x00\x01\x02\x00\x00\x00\x09x", "a broken head": "\x00\x00\x00\x02\x03\x00\x00\x00\x02{]", "the end": "",
	} {
		t.Run(name, func(t *testing.T) {
			session, err := remote.Open(t.Context(), playing(t, wire.Version, garbage), remote.Config{Workdir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := session.Run(t.Context(), envs.Command{Args: []string{"true"}}); relabel.CodeOf(err) != relabel.CodeEnvironment {
					t.Errorf("got %v", err)
				}
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
