package docker_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
)

// wantGone fails the test unless a sandbox's error has CodeEnvironment and gives the cause in a message
// that is safe to show.
func wantGone(t *testing.T, err error, words string) {
	t.Helper()
	var known *relabel.Error
	if !errors.As(err, &known) || known.Code != relabel.CodeEnvironment || !strings.Contains(known.Message, words) {
		t.Errorf("got %v, want one of code %s that shows %q", err, relabel.CodeEnvironment, words)
	}
}

// eatAll fills the memory with what no process holds, beside programs that make themselves as
// unlikely victims as they may.
const eatAll = `cat /dev/zero >/dev/shm/a; exec python3 -c '
import os
x = []
while True:
    if os.fork():
        os.wait()
    else:
        open("/proc/self/oom_score_adj", "w").write("0")
        while True: x.append(bytearray(1 << 20))
'`

func TestASandboxThatRunsOutOfMemoryReportsIt(t *testing.T) {
	t.Parallel()
	spec := newSpec(t)
	spec.Limits.MemoryBytes = 64 << 20
	sandbox := start(t, dockertest.NewHost(t), spec)
	bash(t, sandbox, "head -c 50M /dev/zero >large")
	_, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", eatAll}})
	if err == nil { // the kernel left sandboxd alone: it needs more than there is
		_, _, err = sandbox.ReadFile(t.Context(), "large", 50<<20)
	}
	wantGone(t, err, "out of memory")
	_, err = sandbox.Fingerprint(t.Context())
	wantGone(t, err, "out of memory")
}

func TestACommandThatRunsOutOfMemoryHasAResultThatReportsIt(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	hog, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"python3", "-c", "x = bytearray(10**9)"}})
	if err != nil || hog.Exit != 128+int(syscall.SIGKILL) || !hog.Memory {
		t.Errorf("the hog: %+v, %v", hog, err)
	}
	for _, script := range []string{"true", "kill -9 $$"} {
		got, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}})
		if err != nil || got.Memory {
			t.Errorf("%s: %+v, %v", script, got, err)
		}
	}
}

func TestAKilledSandboxdIsAnEnvironmentErrorThatNamesTheCause(t *testing.T) {
	t.Parallel()
	sandbox := start(t, dockertest.NewHost(t), newSpec(t))
	running := make(chan error, 1)
	go func() {
		_, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"sleep", "1000"}})
		running <- err
	}()
	first := inspect(t, engineOf(t), sandbox.ID()).State.Pid
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wantGone(t, <-running, "killed from outside")
}

func TestFullDiskInTheSandboxIsAnEnvironmentError(t *testing.T) {
	t.Parallel()
	engine := dockertest.StartEngine(t, dockertest.SmallDisk(t, "700m"))
	spec := newSpec(t)
	spec.Image, spec.Limits = engine.Load(), envs.Limits{}
	host := dockertest.NewHostWith(t, docker.Config{Address: engine.Address()})
	sandbox := start(t, host, spec)
	bash(t, sandbox, "git init -q . && git -c user.name=a -c user.email=a@invalid commit -q --allow-empty -m base; echo new >file")
	if _, err := sandbox.Fingerprint(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, exit := bash(t, sandbox, "echo more >file; cat /dev/zero >/fill; echo more >>/fill"); exit == 0 || !strings.Contains(got, "No space left") {
		t.Errorf("a command on a full disk has a result: %q, exit %d", got, exit)
	}
	_, err := sandbox.Fingerprint(t.Context())
	wantGone(t, err, "disk is full")
}

func TestEngineRestartIsAnEnvironmentErrorAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	engine := dockertest.StartEngine(t, "")
	spec := newSpec(t)
	spec.Image = engine.Load()
	host := dockertest.NewHostWith(t, docker.Config{Address: engine.Address()})
	sandbox := start(t, host, spec)
	running := make(chan error, 1)
	go func() {
		_, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"sleep", "1000"}})
		running <- err
	}()
	engine.Kill()
	wantGone(t, <-running, "engine does not answer")
	if err := host.Ping(t.Context()); relabel.CodeOf(err) != relabel.CodeUnavailable {
		t.Errorf("ping: %v", err)
	}
	engine.Start()
	if _, err := host.Reap(t.Context(), func(envs.Labels) bool { return false }); err != nil {
		t.Error(err)
	}
	if got, _ := bash(t, start(t, host, spec), "echo well"); got != "well" {
		t.Errorf("after the restart: %q", got)
	}
}
