package dockertest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"relabel/envs/envstest"
)

// starting bounds the start of an engine, and stopping its end.
const (
	starting = 3 * time.Minute
	stopping = 3 * time.Minute
)

// Engine is a Docker engine of a test's own, beside the machine's: it may be stopped,
// killed and filled up. It gives its containers no network. It needs root.
type Engine struct {
	t    testing.TB
	dir  string
	args []string
	cmd  *exec.Cmd
	done <-chan struct{}
}

// StartEngine starts an engine whose data is below dir ("" is a folder of the test's), with
// further arguments of dockerd. It is ended, and what it kept removed, with the test.
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

// shortDir makes a folder with a path that leaves room for a socket's name.
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

// Address is where it listens.
func (e *Engine) Address() string { return "unix://" + filepath.Join(e.dir, "docker.sock") }

// Process is dockerd's.
func (e *Engine) Process() *os.Process { return e.cmd.Process }

// Client returns a client of it.
func (e *Engine) Client() *client.Client {
	e.t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost(e.Address()), client.WithAPIVersionNegotiation())
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { c.Close() })
	return c
}

// Start starts it, again after a Kill, and waits until it answers.
func (e *Engine) Start() {
	e.t.Helper()
	log, err := os.OpenFile(filepath.Join(e.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	// The pid files of one that was killed may name processes of others by now.
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
	if e.done, err = startWithUs(e.cmd, syscall.SIGTERM); err != nil {
		e.t.Fatalf("a Docker engine of the test's own (it needs root): %v", err)
	}
	e.await()
}

func (e *Engine) pidFile() string { return filepath.Join(e.dir, "pid") }

// await waits until it answers.
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
	text, _ := os.ReadFile(filepath.Join(e.dir, "log")) // it is for the message of a failure
	return text[max(0, len(text)-4000):]
}

// Kill ends it as a crash would. Its containers live on until it is started again.
func (e *Engine) Kill() {
	e.t.Helper()
	if err := e.cmd.Process.Kill(); err != nil {
		e.t.Fatal(err)
	}
	<-e.done
}

// Load gives it the base image of the tests under its name.
func (e *Engine) Load() string {
	e.t.Helper()
	name := envstest.Image(e.t)
	e.LoadImage(name)
	return name
}

// LoadImage gives it an image of the default engine.
func (e *Engine) LoadImage(name string) {
	e.t.Helper()
	from, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		e.t.Fatal(err)
	}
	defer from.Close()
	packed, err := from.ImageSave(context.Background(), []string{name})
	if err != nil {
		e.t.Fatal(err)
	}
	defer packed.Close()
	loaded, err := e.Client().ImageLoad(context.Background(), packed)
	if err != nil {
		e.t.Fatal(err)
	}
	defer loaded.Body.Close()
	var said bytes.Buffer
	if _, err := said.ReadFrom(loaded.Body); err != nil {
		e.t.Fatal(err)
	}
	if _, err := e.Client().ImageInspect(context.Background(), name); err != nil {
		e.t.Fatalf("%v: %s", err, said.String())
	}
}

// remove ends the engine with its containers: a killed one is started once more, because
// only it can end them.
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
		e.t.Errorf("the engine with process id %s does not end", strconv.Itoa(e.cmd.Process.Pid))
		_ = e.cmd.Process.Kill()
		<-e.done
	}
	unmountBelow(e.t, e.dir)
}
