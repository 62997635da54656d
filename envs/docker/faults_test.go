package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
	"relabel/envs/wire"
)

// endIn runs a script that will be ended, or ends, and returns what became of it.
func endIn(t *testing.T, sandbox envs.Sandbox, script string, d time.Duration) envs.Result {
	t.Helper()
	result, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}, Timeout: d})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return result
}

func TestForkBombIsContainedAndTheNextCommandRuns(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	for name, bomb := range map[string]string{
		"in the background": `b() { b | b & }; b; true`,
		"of sleepers":       `for i in $(seq 500); do (setsid sleep 1000 &) ; done 2>/dev/null; true`,
		"in the foreground": `b() { b | b; }; b`,
	} {
		t.Run(name, func(t *testing.T) {
			endIn(t, sandbox, bomb, 3*time.Second)
			if got, exit := bash(t, sandbox, "echo well"); got != "well" || exit != 0 {
				t.Errorf("next command: %q, exit %d", got, exit)
			}
		})
	}
}

func TestMemoryHogIsKilledAndTheNextCommandRuns(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	for range 3 {
		got := endIn(t, sandbox, `exec python3 -c 'x = bytearray(10**9)'`, time.Minute)
		if got.Exit != 128+int(syscall.SIGKILL) || got.Ended != envs.EndedExit {
			t.Errorf("the hog: exit %d, %s: %s", got.Exit, got.Ended, got.Output)
		}
		if got, exit := bash(t, sandbox, "echo well"); got != "well" || exit != 0 {
			t.Errorf("next command: %q, exit %d", got, exit)
		}
	}
}

func TestHugeFileIsCutOff(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	if got, exit := bash(t, sandbox, `head -c 100M /dev/zero >huge; stat -c %s huge`); exit != 0 || strings.Fields(got)[len(strings.Fields(got))-1] != strconv.Itoa(64<<20) {
		t.Errorf("a file of 100 MB with a limit of 64 MiB: %s", got)
	}
}

// The kernel's files are no files like others; that an agent's editor meets one is no
// failure of the sandbox.
func TestSpecialFilesAreNotAFailureOfTheSandbox(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	for _, path := range []string{"/proc/self/mem", "/proc/1/mem", "/proc/kmsg", "/sys/kernel/uevent_seqnum"} {
		if _, _, err := sandbox.ReadFile(t.Context(), path, 100); relabel.CodeOf(err) == relabel.CodeEnvironment {
			t.Errorf("read %s: %v", path, err)
		}
		if err := sandbox.WriteFile(t.Context(), path, []byte("x"), 0); err == nil || relabel.CodeOf(err) == relabel.CodeEnvironment {
			t.Errorf("write %s: %v", path, err)
		}
	}
}

// An agent may remove, or replace, what lies in the container beside its repository.
func TestSandboxWithoutTemporaryFoldersWorks(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	base, _ := bash(t, sandbox, "git init -q . && git -c user.name=a -c user.email=a@invalid commit -q --allow-empty -m base && git rev-parse HEAD")
	bash(t, sandbox, `rm -rf /tmp /relabel /.relabel-* /var/tmp; for d in /.relabel-*; do mv "$d" /elsewhere; mkdir -p "$d/objects"; mkfifo "$d/index"; done; echo new >file`)
	patch, err := sandbox.Patch(t.Context(), base)
	if err != nil || !strings.Contains(string(patch.Diff), "+new") {
		t.Errorf("patch %q, %v", patch.Diff, err)
	}
	bash(t, sandbox, "rm -rf /relabel /elsewhere /.relabel-*")
	got, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"cat"}, Stdin: []byte("well")})
	if err != nil || string(got.Output) != "well" {
		t.Errorf("standard input: %q, %v", got.Output, err)
	}
}

func TestKilledContainerFailsEveryMethodAsEnvironment(t *testing.T) {
	t.Parallel()
	host, engine := dockertest.NewHost(t), engineOf(t)
	sandbox := start(t, host, newSpec(t))
	running := make(chan error, 1)
	go func() {
		_, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"sleep", "1000"}})
		running <- err
	}()
	if err := engine.ContainerKill(t.Context(), sandbox.ID(), "KILL"); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	_, run := sandbox.Run(ctx, envs.Command{Args: []string{"true"}})
	_, _, read := sandbox.ReadFile(ctx, "/etc/passwd", 1)
	_, stat := sandbox.Stat(ctx, "/")
	_, _, list := sandbox.List(ctx, "/", 1, 1)
	_, fingerprint := sandbox.Fingerprint(ctx)
	_, patch := sandbox.Patch(ctx, "")
	for what, err := range map[string]error{
		"running command": <-running, "run": run, "read": read, "write": sandbox.WriteFile(ctx, "x", nil, 0), "stat": stat,
		"list": list, "fingerprint": fingerprint, "patch": patch,
	} {
		if relabel.CodeOf(err) != relabel.CodeEnvironment {
			t.Errorf("%s: got %v, want code %s", what, err, relabel.CodeEnvironment)
		}
	}
	if err := sandbox.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// When relabel is killed, its connection ends, and the container with it: no cleanup is needed.
func TestContainerGoesWhenItsHostIsGone(t *testing.T) {
	t.Parallel()
	host, engine := dockertest.NewHost(t), engineOf(t)
	sandbox := start(t, host, newSpec(t))
	bash(t, sandbox, "sleep 1000 & true")
	gone, failed := engine.ContainerWait(t.Context(), sandbox.ID(), container.WaitConditionRemoved)
	if err := sandbox.(*docker.Sandbox).Session.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case err := <-failed:
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatal("the container is still there")
	}
}

func TestLeftoverOfTheSameNameIsReplacedAndAnothersIsNot(t *testing.T) {
	t.Parallel()
	host, engine, spec := dockertest.NewHost(t), engineOf(t), newSpec(t)
	first := start(t, host, spec)
	bash(t, first, "touch mine")
	second := start(t, host, spec)
	if got, _ := bash(t, second, "ls"); got != "" || first.ID() == second.ID() {
		t.Errorf("the new sandbox is the old one, or holds %q", got)
	}
	theirs := newSpec(t)
	made, err := engine.ContainerCreate(t.Context(), &container.Config{Image: spec.Image, Cmd: []string{"true"}, Labels: map[string]string{"relabel.instance": "theirs"}}, nil, nil, nil, theirs.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = engine.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true})
	})
	if _, err := host.Create(t.Context(), theirs); relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("over another's container: %v", err)
	}
	if removed, err := host.Reap(t.Context(), func(l envs.Labels) bool { return l.Trajectory == spec.Labels.Trajectory }); err != nil || removed != nil {
		t.Errorf("reaped %v, %v", removed, err)
	}
	inspect(t, engine, made.ID) // is still there
}

func TestContainerWhoseCreationWasNotFinishedIsReaped(t *testing.T) {
	t.Parallel()
	engine, spec := engineOf(t), newSpec(t)
	const instance = "test-unfinished"
	made, err := engine.ContainerCreate(t.Context(), &container.Config{Image: spec.Image, Cmd: []string{"true"}, Labels: map[string]string{
		"relabel.instance": instance, "relabel.trajectory": "x", "relabel.attempt": "1", "relabel.purpose": "rollout", "relabel.deadline": "",
	}}, nil, nil, nil, spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = engine.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true})
	})
	host, err := docker.NewHost(docker.Config{Instance: instance, Sandboxd: envstest.Sandboxd(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	if removed, err := host.Reap(t.Context(), func(envs.Labels) bool { return false }); err != nil || !slices.Equal(removed, []string{spec.Name}) {
		t.Errorf("removed %v, %v", removed, err)
	}
}

func TestEngineThatIsNotThereOrHangsIsAnEnvironmentError(t *testing.T) {
	t.Parallel()
	hanging, err := net.Listen("unix", filepath.Join(t.TempDir(), "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer hanging.Close() // it accepts nobody
	for name, address := range map[string]string{"not there": "unix:///nowhere.sock", "hangs": "unix://" + hanging.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			host, err := docker.NewHost(docker.Config{Address: address, Instance: "test", Sandboxd: envstest.Sandboxd(t)})
			if err != nil {
				t.Fatal(err)
			}
			defer host.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, err = host.Reap(ctx, func(envs.Labels) bool { return false })
			if relabel.CodeOf(err) != relabel.CodeEnvironment {
				t.Errorf("reap: %v", err)
			}
			if err := host.EnsureImage(ctx, "image"); relabel.CodeOf(err) != relabel.CodeEnvironment {
				t.Errorf("ensure: %v", err)
			}
			if err := host.Ping(ctx); relabel.CodeOf(err) != relabel.CodeUnavailable {
				t.Errorf("ping: %v", err)
			}
		})
	}
}

// An engine that hangs when it is to attach must not hold a worker up: its time is over,
// and what was created is looked for, to be removed.
func TestEngineThatHangsInTheMiddleOfAStartIsAnEnvironmentError(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "docker.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	free, sought := make(chan struct{}), false
	engine := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/containers/create"):
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"Id":"abc"}`)
		case strings.HasSuffix(r.URL.Path, "/attach"):
			cancel() // the caller's time is over while the engine thinks
			<-free
		case strings.HasSuffix(r.URL.Path, "/json"):
			sought = true
			http.Error(w, `{"message":"No such container"}`, http.StatusNotFound)
		}
	})}
	served := make(chan error, 1)
	go func() { served <- engine.Serve(listener) }()
	defer func() {
		close(free)
		engine.Close()
		<-served
	}()
	host, err := docker.NewHost(docker.Config{Address: "unix://" + socket, Instance: "test", Sandboxd: envstest.Sandboxd(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	if _, err := host.Create(ctx, newSpec(t)); relabel.CodeOf(err) != relabel.CodeEnvironment || !sought {
		t.Errorf("got %v; looked for: %v", err, sought)
	}
}

func TestAnImageWithoutAShellIsReported(t *testing.T) {
	t.Parallel()
	engine := engineOf(t)
	name := fmt.Sprintf("relabel/test-empty:%d", time.Now().UnixNano())
	importEmpty(t, engine, name)
	spec := newSpec(t)
	spec.Image = name
	_, err := dockertest.NewHost(t).Create(t.Context(), spec)
	if relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(err.Error(), "/bin/sh") {
		t.Errorf("got %v", err)
	}
}

func TestHostThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	stale := filepath.Join(t.TempDir(), "sandboxd")
	binary, err := os.ReadFile(envstest.Sandboxd(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, bytes.ReplaceAll(binary, []byte(wire.Mark), []byte(strings.ReplaceAll(wire.Mark, "protocol", "protocel"))), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config docker.Config
		want   relabel.Code
	}{
		"without an instance": {docker.Config{Sandboxd: envstest.Sandboxd(t)}, relabel.CodeInvalid},
		"without sandboxd":    {docker.Config{Instance: "test", Sandboxd: "/nowhere/sandboxd"}, relabel.CodeUnavailable},
		"another's sandboxd":  {docker.Config{Instance: "test", Sandboxd: stale}, relabel.CodeUnavailable},
		"a broken address":    {docker.Config{Instance: "test", Sandboxd: envstest.Sandboxd(t), Address: "nonsense"}, relabel.CodeInvalid},
	} {
		if _, err := docker.NewHost(c.config); relabel.CodeOf(err) != c.want {
			t.Errorf("%s: got %v, want code %s", name, err, c.want)
		}
	}
}
