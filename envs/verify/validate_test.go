package verify

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"relabel"
	"relabel/envs"
)

// counting is a host that writes the number of a container, from 0, into it.
type counting struct {
	envs.Host
	made int
}

// Create implements envs.Host.
func (c *counting) Create(ctx context.Context, spec envs.Spec) (envs.Sandbox, error) {
	sandbox, err := c.Host.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	if err := sandbox.WriteFile(ctx, "/var/tmp/number", fmt.Append(nil, c.made), 0o644); err != nil {
		return nil, err
	}
	c.made++
	return sandbox, nil
}

// wavering has a test that fails in every second container.
const wavering = `def test_waver():
    assert int(open("/var/tmp/number").read()) % 2 == 0


def test_steady():
    assert True
`

func TestATestThatFlickersIsNamed(t *testing.T) {
	b := newBench(t, file("tests/test_waver.py", wavering), func(b *bench) {
		b.git("add", "-A")
		b.git("commit", "-q", "-m", "waver")
		b.task.BaseCommit = strings.TrimSpace(string(b.git("rev-parse", "HEAD")))
		b.task.PassToPass = append(b.task.PassToPass, "tests/test_waver.py::test_waver", "tests/test_waver.py::test_steady")
	})
	r, err := New(&counting{Host: b.host}).Validate(context.Background(), b.task, limits, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := relabel.FlakyTest{Test: "tests/test_waver.py::test_waver", Gold: "Pf", Empty: "Pf"}
	if r.State != relabel.TaskFlaky || r.Reason != relabel.ProblemFlaky || len(r.Flaky) != 1 || r.Flaky[0] != want {
		t.Errorf("%s, %s: %s, %v", r.State, r.Reason, r.Problem, r.Flaky)
	}
	if len(r.Runs) != 4 || r.Runs[1].LogBytes == 0 || !strings.Contains(string(r.Runs[1].Log), "test_waver") {
		t.Errorf("the runs are %+v", r.Runs)
	}
}

func TestATestCommandThatNeverEndsIsNamedWithItsLimit(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd = "sleep 600"
	r, err := New(b.host).Validate(context.Background(), b.task, relabel.RunLimits{VerifySeconds: 3}, 3)
	if err != nil || r.State != relabel.TaskBroken || r.Reason != relabel.ProblemTimeout || !strings.Contains(r.Problem, "limit of 3 seconds") || len(r.Runs) != 1 {
		t.Errorf("%s, %s: %s, %d runs, %v", r.State, r.Reason, r.Problem, len(r.Runs), err)
	}
}
