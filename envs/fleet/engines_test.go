package fleet_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
	"relabel/envs/fleet"
)

// pair is a fleet of the machine's engine and a second one that belongs to the test, both with the image.
type pair struct {
	*fleet.Fleet
	t      *testing.T
	image  string
	second *dockertest.Engine
	there  envs.Host // the second engine's
}

func newPair(t *testing.T) *pair {
	second := dockertest.StartEngine(t, "")
	second.Load()
	times := docker.Times{Ping: 5 * time.Second, Call: 30 * time.Second, Remove: 30 * time.Second}
	a := dockertest.NewHostWith(t, docker.Config{Times: times})
	b := dockertest.NewHostWith(t, docker.Config{Address: second.Address() + "?slots=2", Times: times, Silence: 15 * time.Second})
	f := newFleet(t, fleet.Config{Members: []fleet.Member{{Engine: a, Slots: 1}, {Engine: b, Slots: b.Slots()}}, LookEvery: 100 * time.Millisecond, Patience: time.Minute})
	return &pair{f, t, envstest.Image(t), second, b}
}

func (p *pair) create() envs.Sandbox {
	p.t.Helper()
	sandbox, err := p.Create(p.t.Context(), envs.Spec{Name: "relabel-test-" + uuid.NewString(), Image: p.image, Workdir: envstest.Workdir, Labels: envs.Labels{Purpose: "rollout"}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = sandbox.Close(context.Background()) }) // a sandbox that remains fails the clean-up of its host
	return sandbox
}

// sleep runs a command that sleeps in a sandbox, and returns its result.
func (p *pair) sleep(sandbox envs.Sandbox) <-chan error {
	over := make(chan error, 1)
	go func() {
		_, err := sandbox.Run(p.t.Context(), envs.Command{Args: []string{"sleep", "86399"}})
		over <- err
	}()
	return over
}

// out waits until the second engine is out, or back.
func (p *pair) out(is bool) {
	p.t.Helper()
	await(p.t, p.Fleet, "the second engine is out or back", func(h []relabel.Engine) bool { return (h[1].Problem != "") == is })
}

func TestSandboxesOfARealKilledEngineFailAndNewOnesAreCreatedElsewhere(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	on := map[string][]envs.Sandbox{}
	for range 3 {
		s := p.create()
		on[s.HostName()] = append(on[s.HostName()], s)
	}
	there := on[p.second.Address()]
	if len(there) != 2 || len(on) != 2 {
		t.Fatalf("placed %v", on)
	}
	running := p.sleep(there[0])
	p.second.Kill()
	wantEnvironment(t, <-running)
	p.out(true)
	for _, s := range there {
		_ = s.Close(t.Context()) // its engine is gone, but its slot becomes free
	}
	for name, list := range on {
		if name != p.second.Address() {
			if _, err := list[0].Run(t.Context(), envs.Command{Args: []string{"true"}}); err != nil {
				t.Errorf("on the other engine: %v", err)
			}
			if err := list[0].Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	if s := p.create(); s.HostName() == p.second.Address() {
		t.Error("created on a dead engine")
	}
	p.second.Start()
	p.out(false)
	// An engine that was killed removes its containers when it starts again, or leaves them to
	// workers, which remove every five seconds what belongs to no live attempt.
	if _, err := p.there.Reap(t.Context(), func(envs.Labels) bool { return false }); err != nil {
		t.Errorf("reap: %v", err)
	}
	if s := p.create(); s.HostName() != p.second.Address() {
		t.Errorf("the engine is back, and the sandbox is on %s", s.HostName())
	}
}

// An engine that hangs answers no request, and its streams stop. Its sandboxes fail after too long a
// silence.
func TestSandboxesOfARealEngineThatHangsFailAfterTheirSilence(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var there envs.Sandbox
	for there == nil || there.HostName() != p.second.Address() {
		there = p.create()
	}
	running := p.sleep(there)
	if err := p.second.Process().Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.out(true)
	if err := p.Room(t.Context()); err != nil {
		t.Errorf("the other engine works: %v", err)
	}
	err := <-running
	wantEnvironment(t, err)
	if !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("the error is %v", err)
	}
	if err := p.second.Process().Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.out(false)
	if err := there.Close(t.Context()); err != nil && relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Error(err)
	}
}
