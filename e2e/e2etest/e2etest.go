// Package e2etest has what tests of several packages need: waits, servers and repositories.
package e2etest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Patience bounds the wait for anything, on a busy machine too.
const Patience = 15 * time.Minute

// Long skips a test that only the long tests run, a slice at a time (scripts/test-all.sh).
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("RELABEL_TEST_ALL") == "" {
		t.Skip("make test-all runs it, and each commit a slice of that: RELABEL_TEST_ALL=1 runs it now")
	}
}

// NoError ends the test with err unless it is nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Bounded returns a context for calls that must not hang, also for those of a cleanup.
func Bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Eventually waits until done returns true and ends the test if it does not.
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s, it is still not so that %s", Patience, what)
		}
	}
}

// Listen serves a handler until the test ends and returns its URL. All requests must have
// ended by then. A handler that waits for its client to disconnect must read the body first.
func Listen(t testing.TB, h http.Handler) (url string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() { defer close(closed); s.Close() }()
		select {
		case <-closed:
		case <-time.After(Patience):
			t.Errorf("a request to the test's own server at %s does not end", s.URL)
		}
	})
	return s.URL
}

// Write writes a file below dir and creates its folders.
func Write(t testing.TB, dir, name, content string) {
	t.Helper()
	full := filepath.Join(dir, name)
	NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
	NoError(t, os.WriteFile(full, []byte(content), 0o644))
}

// Git runs git in dir with a fixed author and date and returns its output.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(Bounded(t), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@invalid",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@invalid", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}
