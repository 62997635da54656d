package e2e

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"relabel/cli"
	"relabel/e2e/e2etest"
	"relabel/envs/envstest"
)

// programVariable names a relabel that tests start instead of the one that they build.
const programVariable = "RELABEL_TEST_PROGRAM"

// patience bounds the wait for anything, on a busy machine too.
const patience = e2etest.Patience

func TestMain(m *testing.M) {
	// Tests wait for containers and databases more than they compute.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	http.DefaultClient.Timeout = patience // a server that hangs fails a test, not the whole run
	code := m.Run()
	if err := cleanUp(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// cleanUp removes what the tests share.
func cleanUp() (err error) {
	if made.remove != nil {
		err = made.remove()
	}
	return errors.Join(err, os.RemoveAll(built.folder))
}

// built is the program that tests start, built on first use.
var built struct {
	once   sync.Once
	folder string
	path   string
	err    error
}

// relabelProgram returns the path of relabel, built with the race detector if the tests are.
func relabelProgram(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(programVariable); path != "" {
		return path
	}
	built.once.Do(func() {
		if built.folder, built.err = os.MkdirTemp("", "relabel-e2e-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.folder, "relabel")
		args := []string{"build", "-o", built.path}
		if raceDetector() {
			args = append(args, "-race")
		}
		if out, err := exec.Command("go", append(args, "relabel/cmd/relabel")...).CombinedOutput(); err != nil {
			built.err = fmt.Errorf("build relabel: %w\n%s", err, out)
		}
	})
	noError(t, built.err)
	return built.path
}

// raceDetector reports whether this program was built with the race detector.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// place is where commands of relabel run: their environment.
type place struct {
	data     string // data folder
	database string // DATABASE_URL; "" for a local one
	env      []string
}

// environ is the environment of a command: that of the tests without what concerns
// another relabel.
func (p place) environ(t testing.TB) []string {
	t.Helper()
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "RELABEL_") && !strings.HasPrefix(e, "DATABASE_URL=") {
			env = append(env, e)
		}
	}
	// With -race every process would otherwise sleep for a second when it has ended.
	env = append(env, "GORACE=atexit_sleep_ms=0", "RELABEL_DATA="+p.data, "RELABEL_SANDBOXD="+envstest.Sandboxd(t))
	if p.database != "" {
		env = append(env, "DATABASE_URL="+p.database)
	}
	return append(env, p.env...)
}

// openFolder makes a data folder that the user can reach whom a local Postgres runs as.
func openFolder(t testing.TB) string {
	t.Helper()
	data, err := os.MkdirTemp("/var/tmp", "relabel-test-")
	noError(t, err)
	noError(t, os.Chmod(data, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	return data
}

// process is a running relabel.
type process struct {
	t    testing.TB
	cmd  *exec.Cmd
	said words
	done chan struct{} // closed when it has ended
}

// words is what a process writes.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// start starts relabel with arguments; it is killed when the test ends, if it lives then.
func (p place) start(t testing.TB, args ...string) *process {
	t.Helper()
	r := &process{t: t, cmd: exec.Command(relabelProgram(t), args...), done: make(chan struct{})}
	r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = p.environ(t), &r.said, &r.said
	r.cmd.WaitDelay = 10 * time.Second // for what it started and left, with its output open
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // ProcessState has the result
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.done
		if t.Failed() && len(args) > 0 && args[0] == "serve" {
			t.Logf("relabel %v said:\n%s", args, r.said.String())
		}
	})
	return r
}

// serve starts `relabel serve` with arguments and returns when it answers.
func (p place) serve(t testing.TB, args ...string) (*process, *session) {
	t.Helper()
	file := filepath.Join(p.data, "server.url")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	r := p.start(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	opened, err := cli.Open("http://127.0.0.1:1", "", "")
	noError(t, err)
	c := &session{opened}
	eventually(t, "the server answers", func() bool {
		select {
		case <-r.done:
			t.Fatal("relabel serve ended before it served")
		default:
		}
		b, err := os.ReadFile(file)
		c.Base = strings.TrimSpace(string(b))
		return err == nil && c.Base != "" && c.Alive(context.Background())
	})
	return r, c
}

// tellOnFailure prints the output of the process if the test fails.
func (r *process) tellOnFailure() *process {
	r.t.Cleanup(func() {
		if r.t.Failed() {
			r.t.Logf("relabel %v said:\n%s", r.cmd.Args[1:], r.said.String())
		}
	})
	return r
}

// signal sends a signal, waits for the end and returns the exit code, -1 where a signal
// ended it.
func (r *process) signal(s syscall.Signal) int {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
	return r.wait()
}

// wait waits for the end and returns the exit code.
func (r *process) wait() int {
	r.t.Helper()
	select {
	case <-r.done:
	case <-time.After(patience):
		_ = r.cmd.Process.Signal(syscall.SIGQUIT) // it prints its goroutines
		select {
		case <-r.done:
		case <-time.After(10 * time.Second):
		}
		r.t.Fatalf("relabel %v does not end; it said\n%s", r.cmd.Args[1:], r.said.String())
	}
	return r.cmd.ProcessState.ExitCode()
}

// command runs relabel to its end and returns what it wrote and its exit code.
func (p place) command(t testing.TB, args ...string) (said string, code int) {
	t.Helper()
	r := p.start(t, args...)
	code = r.wait()
	return r.said.String(), code
}

// must runs a command that has to succeed and returns what it wrote.
func (p place) must(t testing.TB, args ...string) string {
	t.Helper()
	said, code := p.command(t, args...)
	if code != 0 {
		t.Fatalf("relabel %v ended with %d: %s", args, code, said)
	}
	return said
}
