package verify

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"relabel"
	"relabel/envs"
)

// dyingHost is a host whose containers die while tests run, as many as it is told.
type dyingHost struct {
	envs.Host
	spared  atomic.Int32 // how many live before that
	deaths  atomic.Int32 // how many are still to die
	created atomic.Int32
}

func (h *dyingHost) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	h.created.Add(1)
	s, err := h.Host.Create(ctx, spec)
	return &dyingSandbox{Sandbox: s, host: h}, err
}

type dyingSandbox struct {
	envs.Sandbox
	host *dyingHost
}

func (s *dyingSandbox) Run(ctx context.Context, cmd envs.Command) (envs.Result, error) {
	if strings.Contains(cmd.Args[2], " begin") && s.host.spared.Add(-1) < 0 && s.host.deaths.Add(-1) >= 0 {
		if err := s.Close(ctx); err != nil {
			return envs.Result{}, err
		}
	}
	return s.Sandbox.Run(ctx, cmd)
}

func TestAContainerThatDiesOnceIsReplaced(t *testing.T) {
	b := newBench(t)
	host := &dyingHost{Host: b.host}
	host.deaths.Store(1)
	b.host = host
	b.expect(relabel.VerdictTestsPassed, gold)
	if n := host.created.Load(); n != 3 {
		t.Errorf("%d containers, want 3: the first, the gold patch's and the second", n)
	}
}

func TestContainersThatAlwaysDieAreAnInfrastructureError(t *testing.T) {
	b := newBench(t)
	host := &dyingHost{Host: b.host}
	host.deaths.Store(2)
	b.host = host
	if v := b.verify(b.patch(gold)); v.Infra == "" || v.Passed || v.Reason != "" {
		t.Errorf("%+v", v)
	}
}

// TestAControlThatDiesIsWhyThereIsNoVerdict has a submission that fails in a way that canaries
// may cause, which only the gold patch can settle.
func TestAControlThatDiesIsWhyThereIsNoVerdict(t *testing.T) {
	b := newBench(t)
	host := &dyingHost{Host: b.host}
	host.spared.Store(1)
	host.deaths.Store(1)
	b.host = host
	const exhaust = "import os\ntry:\n    while True:\n        os.open('/dev/null', 0)\nexcept OSError:\n    pass"
	if v := b.verify(b.patch(inCalc(exhaust))); v.Infra == "" || v.Passed || v.Reason != "" {
		t.Errorf("passed %v, reason %q, infra %q", v.Passed, v.Reason, v.Infra)
	}
}

func TestAFullDiskIsNoVerdictOnTheSubmission(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd += "; echo 'OSError: [Errno 28] No space left on device'"
	b.task.FailToPass = []string{"tests/test_add.py::test_add", "never passes"}
	if v := b.verify(b.patch(gold)); v.Infra != "the disk was full while the tests ran" || v.Passed || v.Reason != "" {
		t.Errorf("resolved %v, reason %q, infra %q", v.Passed, v.Reason, v.Infra)
	}
}
