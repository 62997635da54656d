package dockertest

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"relabel/envs/envstest"
)

// Time limits of an engine's start and end.
const (
	starting = 3 * time.Minute
	stopping = 3 * time.Minute
)

// Engine is a separate Docker engine for a test, which may stop, kill and fill it. Its containers have
// no network. It needs root.
type Engine struct {
	t    testing.TB
	dir  string
	args []string
	cmd  *exec.Cmd
	done <-chan struct{}
}

// StartEngine starts an engine whose data is below dir ("" means a temporary folder), with further
// arguments of dockerd. The end of the test ends it and removes its data.
func StartEngine(t testing.TB, dir string, args ...string) *Engine {
	t.Helper()
	if dir == "" {
		dir = shortDir(t)
	}
	e := &Engine{t: t, dir: dir, args: args}
	t.Cleanup(e.remove)
	e.Start()
	return e
}

// shortDir makes a folder whose path is short enough for a socket.
func shortDir(t testing.TB) string {
	t.Helper()
	sweepFolders.Do(func() { removeOldFolders(t) })
	dir, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Address is the engine's address.
func (e *Engine) Address() string { return "unix://" + filepath.Join(e.dir, "docker.sock") }

// Process is the process of dockerd.
func (e *Engine) Process() *os.Process { return e.cmd.Process }

// Client returns a client of the engine.
func (e *Engine) Client() *client.Client {
	e.t.Helper()
	return newClient(e.t, client.WithHost(e.Address()))
}

// newClient returns a client of an engine that is closed with the test.
func newClient(t testing.TB, of client.Opt) *client.Client {
	t.Helper()
	c, err := client.NewClientWithOpts(of, client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Start starts the engine, also after a Kill, and waits until it answers.
func (e *Engine) Start() {
	e.t.Helper()
	log, err := os.OpenFile(filepath.Join(e.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	// The pid files of a killed engine may name other processes now.
	for _, file := range []string{e.pidFile(), filepath.Join(e.dir, "exec", "containerd", "containerd.pid")} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			e.t.Fatal(err)
		}
	}
	e.cmd = exec.Command("dockerd", append([]string{
		"--data-root", filepath.Join(e.dir, "data"), "--exec-root", filepath.Join(e.dir, "exec"), "--pidfile", e.pidFile(), "-H", e.Address(),
		"--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-masq=false",
	}, e.args...)...)
	e.cmd.Stdout, e.cmd.Stderr = log, log
	// An engine without a bridge deletes the bridge of the machine's own engine, if it sees it.
	if e.done, err = startWithUs(e.cmd, syscall.SIGTERM, true); err != nil {
		e.t.Fatalf("start a Docker engine (it needs root): %v", err)
	}
	e.await()
}

func (e *Engine) pidFile() string { return filepath.Join(e.dir, "pid") }

// await waits until the engine answers.
func (e *Engine) await() {
	e.t.Helper()
	engine := e.Client()
	ctx, cancel := context.WithTimeout(context.Background(), starting)
	defer cancel()
	for {
		if _, err := engine.Ping(ctx); err == nil {
			return
		}
		select {
		case <-e.done:
			e.t.Fatalf("the engine ended: %s", e.log())
		case <-ctx.Done():
			e.t.Fatalf("the engine does not answer: %s", e.log())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (e *Engine) log() []byte {
	text, _ := os.ReadFile(filepath.Join(e.dir, "log")) // only for the message of a failure
	return text[max(0, len(text)-4000):]
}

// Kill ends the engine like a crash. Its containers keep running until it is started again.
func (e *Engine) Kill() {
	e.t.Helper()
	if err := e.cmd.Process.Kill(); err != nil {
		e.t.Fatal(err)
	}
	<-e.done
}

// Load copies the base image of the tests to the engine.
func (e *Engine) Load() string {
	e.t.Helper()
	name := envstest.Image(e.t)
	e.LoadImage(name)
	return name
}

// LoadImage copies an image of the default engine to the engine.
func (e *Engine) LoadImage(name string) {
	e.t.Helper()
	packed, err := newClient(e.t, client.FromEnv).ImageSave(context.Background(), []string{name})
	if err != nil {
		e.t.Fatal(err)
	}
	defer packed.Close()
	loaded, err := e.Client().ImageLoad(context.Background(), packed)
	if err != nil {
		e.t.Fatal(err)
	}
	defer loaded.Body.Close()
	output, err := io.ReadAll(loaded.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.Client().ImageInspect(context.Background(), name); err != nil {
		e.t.Fatalf("%v: %s", err, output)
	}
}

// remove ends the engine with its containers. It starts a killed engine again for that.
func (e *Engine) remove() {
	select {
	case <-e.done:
		e.Start()
	default:
	}
	_ = e.cmd.Process.Signal(syscall.SIGCONT) // a test may have stopped it
	if err := e.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		e.t.Error(err)
	}
	select {
	case <-e.done:
	case <-time.After(stopping):
		e.t.Errorf("the engine with process id %d does not end", e.cmd.Process.Pid)
		_ = e.cmd.Process.Kill()
		<-e.done
	}
	unmountBelow(e.t, e.dir)
}
