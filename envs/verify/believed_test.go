package verify

import (
	"context"
	"strings"
	"testing"

	"relabel"
)

// takeovers are code under test that makes every test of the process pass.
var takeovers = map[string]string{
	"reports": "import _pytest.reports as r\nold = r.TestReport.from_item_and_call.__func__\ndef new(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\nr.TestReport.from_item_and_call = classmethod(new)",
	"calls":   "import _pytest.python as p\np.Function.runtest = lambda self: None",
	"exit":    "import _pytest.main as m\nimport os, atexit\natexit.register(os._exit, 0)\nimport _pytest.runner as r\nr.check_interactive_exception = lambda *a: False\nimport _pytest.python as p\np.Function.runtest = lambda self: None",
}

func TestATakeoverOfTheRunnerIsSeenByItsCanaries(t *testing.T) {
	b := newBench(t)
	for name, code := range takeovers {
		v := b.verify(b.patch(inCalc(code)))
		if v.Passed || v.Infra != "" || (v.Reason != relabel.VerdictTampered && v.Reason != relabel.VerdictTests) {
			t.Errorf("%s: passed %v, reason %q, infra %q\n%s", name, v.Passed, v.Reason, v.Infra, v.Output)
		}
		if v.Reason == relabel.VerdictTampered && !strings.Contains(string(v.Output), "[relabel: the canary") {
			t.Errorf("%s: it does not say which canary\n%s", name, v.Output)
		}
	}
}

// TestARunnerThatTakesNoCanariesIsJudgedWithoutThem has a repository whose conftest refuses
// tests that it does not know.
func TestARunnerThatTakesNoCanariesIsJudgedWithoutThem(t *testing.T) {
	const refuse = "import pytest\n\ndef pytest_collection_modifyitems(items):\n    known = {'test_add', 'test_zero', 'test_sub'}\n" +
		"    if any(item.name not in known for item in items):\n        pytest.exit('an unknown test', 3)\n"
	b := newBench(t, file("conftest.py", refuse), func(b *bench) {
		b.git("commit", "-q", "-a", "-m", "refuse")
		b.task.BaseCommit = strings.TrimSpace(string(b.git("rev-parse", "HEAD")))
	})
	host := &dyingHost{Host: b.host}
	verifier := New(host)
	for _, containers := range []int32{7, 8} { // the first, two controls with all canaries, two with fewer, one without, the second; then one each
		v, err := verifier.Verify(context.Background(), b.task, relabel.NewID(), 1, limits, b.patch(gold))
		if err != nil || !v.Passed || v.Canaries || !strings.Contains(string(v.Output), "without canaries: with the gold patch") {
			t.Errorf("%v: passed %v, canaries %v\n%s", err, v.Passed, v.Canaries, v.Output)
		}
		if n := host.created.Load(); n != containers {
			t.Errorf("%d containers, want %d", n, containers)
		}
	}
	b.expect(relabel.VerdictTests, file("README", "x\n"))
}

// TestFailuresThatLookLikeTheEnvironmentsAreHeldAgainstTheSubmission: else a failing
// submission could erase its failure.
func TestFailuresThatLookLikeTheEnvironmentsAreHeldAgainstTheSubmission(t *testing.T) {
	b := newBench(t)
	for name, code := range map[string]string{
		"says that the disk is full": "import os, sys\nos.write(1, b'OSError: [Errno 28] No space left on device')\nsys.exit(1)",
		"ends like a killed program": "import os\nos._exit(137)",
		"ends without a test":        "import os\nos._exit(5)",
		"fills /tmp and leaves":      "import os\ntry:\n    with open('/tmp/full', 'wb') as f:\n        for _ in range(64):\n            f.write(b'x' * (1 << 20))\n    print('No space left on device')\nfinally:\n    os._exit(3)",
	} {
		v := b.verify(b.patch(inCalc(code)))
		if v.Passed || v.Infra != "" || (v.Reason != relabel.VerdictUnfinished && v.Reason != relabel.VerdictTests) {
			t.Errorf("%s: passed %v, reason %q, infra %q", name, v.Passed, v.Reason, v.Infra)
		}
	}
	const named = "--- a/No space left on device\n+++ b/No space left on device\n@@ -1 +1 @@\n-a\n+b\n"
	if v := b.verify([]byte(named)); v.Infra != "" || v.Reason != relabel.VerdictDoesNotApply {
		t.Errorf("a patch whose path says so: reason %q, infra %q", v.Reason, v.Infra)
	}
}
