package docker_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
)

// holdSandbox makes this test binary create a sandbox of that name, print its id and keep it.
const holdSandbox = "RELABEL_TEST_HOLD_SANDBOX"

func TestMain(m *testing.M) {
	if spec := os.Getenv(holdSandbox); spec != "" {
		hold(strings.Fields(spec))
	}
	if os.Getenv(dialStdio) != "" {
		dialEngine()
	}
	if err := flag.Set("test.parallel", "4"); err != nil { // they wait for engines more than they compute
		panic(err)
	}
	os.Exit(m.Run())
}

// patience is how long tests wait for an expected event on a busy machine.
const patience = 15 * time.Minute

// dialStdio makes this test binary act as `docker system dial-stdio`: it connects standard input and
// output to the default engine.
const dialStdio = "RELABEL_TEST_DIAL_STDIO"

func dialEngine() {
	engine, err := client.NewClientWithOpts(client.FromEnv)
	if err != nil {
		panic(err)
	}
	conn, err := engine.Dialer()(context.Background())
	if err != nil {
		panic(err)
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin) // it ends with the caller
		_ = conn.(interface{ CloseWrite() error }).CloseWrite()
	}()
	_, _ = io.Copy(os.Stdout, conn)
	os.Exit(0)
}

// hold is the child process: its session with the sandbox pings, and it waits.
func hold(spec []string) {
	silence, err := time.ParseDuration(spec[3])
	if err != nil {
		panic(err)
	}
	host, err := docker.NewHost(docker.Config{Instance: spec[0], Sandboxd: spec[4], Silence: silence})
	if err != nil {
		panic(err)
	}
	sandbox, err := host.Create(context.Background(), envs.Spec{Name: spec[1], Image: spec[2], Workdir: envstest.Workdir, Labels: envs.Labels{Purpose: "rollout"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(sandbox.ID())
	select {}
}

// startHolder starts a process that holds a sandbox, and returns the container's id.
func startHolder(t *testing.T, silence time.Duration) (worker *os.Process, id string) {
	t.Helper()
	spec := newSpec(t)
	instance := "test-" + spec.Labels.Trajectory
	dockertest.NewHostWith(t, docker.Config{Instance: instance}) // fails the test if it is left
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s %s %s", holdSandbox, instance, spec.Name, spec.Image, silence, envstest.Sandboxd(t)))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	id, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Process, strings.TrimSpace(id)
}

// waitGone waits until the engine has removed the container.
func waitGone(t *testing.T, engine *client.Client, id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	gone, failed := engine.ContainerWait(ctx, id, container.WaitConditionRemoved)
	select {
	case <-gone:
	case err := <-failed:
		if !errdefs.IsNotFound(err) {
			t.Fatalf("the container is still there: %v", err)
		}
	}
}

func TestSandboxOfAWorkerThatIsStoppedEndsAfterItsSilence(t *testing.T) {
	t.Parallel()
	worker, id := startHolder(t, 10*time.Second) // a holder on a busy machine is silent for a while too
	if err := worker.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waitGone(t, engineOf(t), id) // its connection stands all the while
	if err := worker.Signal(syscall.SIGCONT); err != nil {
		t.Error(err)
	}
}

func TestSandboxOfAWorkerThatIsKilledGoesAtOnce(t *testing.T) {
	t.Parallel()
	worker, id := startHolder(t, time.Hour) // not because of silence
	if err := worker.Kill(); err != nil {
		t.Fatal(err)
	}
	waitGone(t, engineOf(t), id)
}

func TestSandboxWhoseOwnerIsGoneEndsAfterItsSilence(t *testing.T) {
	t.Parallel()
	host, engine := dockertest.NewHostWith(t, docker.Config{Silence: 15 * time.Second}), engineOf(t)
	owner, leave := context.WithCancel(t.Context())
	lost, err := host.Create(owner, newSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	kept := start(t, host, newSpec(t))
	leave()
	waitGone(t, engine, lost.ID())
	if _, err := lost.Run(t.Context(), envs.Command{Args: []string{"true"}}); err == nil || !strings.Contains(err.Error(), "no contact with its host") {
		t.Errorf("got %v", err)
	}
	if got, _ := bash(t, kept, "echo well"); got != "well" {
		t.Errorf("one that is spoken to: %q", got)
	}
	if err := lost.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
