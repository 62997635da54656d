package verify

import (
	"context"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/results"
)

func TestTestsAreCountedByFileWithoutCanaries(t *testing.T) {
	r := results.ParseReport([]byte(`<testsuites><testsuite>
		<testcase classname="tests.test_a" name="test_one[1]"/><testcase classname="tests.test_a" name="test_one[2]"><failure/></testcase>
		<testcase classname="tests.test_a.TestB" name="test_two"><skipped/></testcase><testcase classname="tests.test_a" name="test_canary"/>
		<testcase classname="tests.test_a" name="test_many[canary]"/><testcase classname="tests.test_ab" name="test_one"/>
		<testcase classname="tests.test_a.TestCanary" name="test_fails"/><testcase classname="tests.test_a.TestCanary" name="check_inherited"/></testsuite></testsuites>`))
	task := relabel.Task{FailToPass: []string{"tests/test_a.py::test_one[1]"}, PassToPass: []string{"tests/test_gone.py::test_it"}}
	p := &canary.Planting{Canaries: []canary.Test{{Name: "test_a.py::test_canary"}, {Name: "test_a.py::test_many[canary]"}, {Name: "test_a.py::TestCanary::test_fails"}}}
	got := countTests(task, r, p)
	if len(got) != 2 || got["tests/test_a.py"] != 2 || got["tests/test_gone.py"] != 0 {
		t.Errorf("%v", got)
	}
	if countTests(task, nil, p) != nil || countTests(task, r, nil) != nil {
		t.Error("a run without report or canaries has counts")
	}
	for _, c := range []struct {
		of, gold testCounts
		differs  bool
	}{{got, got, false}, {nil, got, false}, {got, nil, false}, {testCounts{"tests/test_a.py": 1}, got, true}, {testCounts{"tests/test_a.py": 3}, got, true}} {
		if (c.of.differs(c.gold) != "") != c.differs {
			t.Errorf("%v beside %v: %q", c.of, c.gold, c.of.differs(c.gold))
		}
	}
}

// TestASubmissionThatHidesATestIsSeenByTheCount has code under test remove a test that the
// task does not name from what pytest collects.
func TestASubmissionThatHidesATestIsSeenByTheCount(t *testing.T) {
	const hide = "import _pytest.python as p\nold = p.Module.collect\ndef new(self):\n    return [item for item in old(self) if item.name != 'test_less']\np.Module.collect = new\n"
	more := repository["tests/test_sub.py"] + "\n\ndef test_less():\n    assert sub(1, 3) == -2\n"
	b := newBench(t, file("tests/test_sub.py", more), func(b *bench) {
		b.git("commit", "-q", "-a", "-m", "more")
		b.task.BaseCommit = strings.TrimSpace(string(b.git("rev-parse", "HEAD")))
	})
	verifier := New(b.host)
	if r, err := verifier.Validate(context.Background(), b.task, limits, 1); err != nil || !r.Sound() {
		t.Fatalf("%+v %v", r, err)
	}
	for _, c := range []struct {
		patch  []byte
		reason relabel.VerdictReason
	}{
		{b.patch(gold), relabel.VerdictTestsPassed},
		{b.patch(gold, func(b *bench) {
			b.write("calc.py", hide+strings.Replace(repository["calc.py"], "return a - b", "return a + b", 1))
		}), relabel.VerdictTampered},
	} {
		v, err := verifier.Verify(context.Background(), b.task, relabel.NewID(), 1, limits, c.patch)
		if err != nil || v.Reason != c.reason || v.Infra != "" || (c.reason == relabel.VerdictTampered) != strings.Contains(string(v.Output), "1 tests of tests/test_sub.py ran, and 2 with the gold patch") {
			t.Errorf("%v: reason %q, want %q\n%s", err, v.Reason, c.reason, v.Output)
		}
	}
}
