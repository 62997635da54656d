package canary

import (
	"testing"

	"relabel"
	"relabel/envs/verify/results"
	"relabel/testlog"
)

func TestACanaryIsBrokenWhereItCannotRepeatATestThatPassed(t *testing.T) {
	p := Planting{Canaries: []Test{{Name: "TestEdge", Key: "a_test.go calls TestHandle", Status: relabel.TestFailed, Calls: "TestHandle"}}}
	missed := map[string]bool{"a_test.go calls TestHandle": true}
	passed, failed := testlog.Outcomes{"shop:TestHandle": relabel.TestPassed}, testlog.Outcomes{"shop:TestHandle": relabel.TestFailed}
	if !p.Broken(passed, missed) || p.Broken(failed, missed) || p.Broken(passed, nil) {
		t.Errorf("passed: %v, failed: %v, not missed: %v", p.Broken(passed, missed), p.Broken(failed, missed), p.Broken(passed, nil))
	}
}

func TestAFailedCanaryMayEndARunOfJest(t *testing.T) {
	p := Planting{Stops: true, Canaries: []Test{{Name: "first", Status: relabel.TestFailed}, {Name: "second", Status: relabel.TestFailed}}}
	cut := testlog.Outcomes{"first": relabel.TestFailed, "adds": relabel.TestPassed}
	whole := testlog.Outcomes{"first": relabel.TestFailed, "second": relabel.TestFailed}
	none := testlog.Outcomes{"adds": relabel.TestPassed}
	seen, unseen := map[string]relabel.TestStatus{"adds": relabel.TestPassed}, map[string]relabel.TestStatus{"adds": relabel.TestPassed, "subs": relabel.TestAbsent}
	if !p.CutShort(cut, unseen) || p.CutShort(cut, seen) || p.CutShort(whole, unseen) || p.CutShort(none, unseen) {
		t.Error("what may have ended a run is not what it is taken for")
	}
	p.Stops = false
	if p.CutShort(cut, unseen) {
		t.Error("a runner that does not stop is taken for one that does")
	}
}

// TestACanaryThatDoesNotEndAsItMustContradictsTheRun holds each way in which a takeover of
// the runner shows.
func TestACanaryThatDoesNotEndAsItMustContradictsTheRun(t *testing.T) {
	p := Planting{Failure: 1, Canaries: []Test{
		{Name: "test_b.py::test_bad", Status: relabel.TestFailed, Proof: "4711"},
		{Name: "test_b.py::test_good", Status: relabel.TestPassed},
	}}
	log := []byte("AssertionError: 4711")
	honest := testlog.Outcomes{"tests/test_b.py::test_bad": relabel.TestFailed, "tests/test_b.py::test_good": relabel.TestPassed}
	said := &results.Report{Clean: map[string]bool{"tests.test_b.test_good": true}, Stained: map[string]bool{"tests.test_b.test_bad": true}}
	if misses := p.Misses(log, honest, said, 1); len(misses) > 0 {
		t.Errorf("an honest run: %v", misses)
	}
	all := testlog.Outcomes{"tests/test_b.py::test_bad": relabel.TestPassed, "tests/test_b.py::test_good": relabel.TestPassed}
	gone := testlog.Outcomes{"tests/test_b.py::test_good": relabel.TestPassed}
	none := testlog.Outcomes{"tests/test_b.py::test_bad": relabel.TestFailed, "tests/test_b.py::test_good": relabel.TestFailed}
	for name, misses := range map[string][]Miss{
		"all pass":              p.Misses(log, all, said, 1),
		"one is absent":         p.Misses(log, gone, said, 1),
		"none passes":           p.Misses(log, none, said, 1),
		"the report disagrees":  p.Misses(log, honest, &results.Report{}, 1),
		"nothing was computed":  p.Misses(nil, honest, said, 1),
		"the exit code says ok": p.Misses(log, honest, said, 0),
	} {
		if len(misses) == 0 {
			t.Errorf("%s: believed", name)
		}
	}
}
