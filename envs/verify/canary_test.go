package verify

import (
	"strings"
	"testing"

	"relabel"
)

// gardenOf is a repository of these files.
func gardenOf(command string, files ...string) garden {
	return garden{
		command: command, random: canaryRandom(), task: relabel.Task{Workdir: "/testbed", FailToPass: []string{"tests/test_a.py::test_x"}},
		has: func(name string) bool {
			for _, f := range files {
				if f == name || strings.HasPrefix(f, name+"/") {
					return true
				}
			}
			return false
		},
		read: func(string) ([]byte, bool) { return nil, false },
	}
}

func TestCanariesArePlantedWhereTheCommandRunsThem(t *testing.T) {
	const tests = "tests/test_a.py"
	for command, appended := range map[string]bool{
		"pytest -rA tests/test_a.py":              true,
		"pytest -rA tests":                        false,
		"pytest -rA":                              false,
		"pytest -rA .":                            false,
		"pytest -rA -p no:cacheprovider -k tests": false,
		"cd tests && python3 -m pytest -rA test_a.py > log 2>&1": true,
		"PYTHONPATH=. pytest 'tests/test_a.py::test_x' | cat":    true,
		"pytest tests/*.py # the tests":                          true,
		"tox -e py -- tests/test_a.py":                           true,
	} {
		p, ok := canariesFor("pytest", gardenOf(command, tests))
		if !ok {
			t.Errorf("%s: no canaries", command)
			continue
		}
		if got := strings.Contains(p.command, "/testbed/tests/"); got != appended {
			t.Errorf("%s: became %s", command, p.command)
		}
		words := shellWords(p.command)
		if strings.Contains(command, "|") && words[len(words)-1].text != "cat" {
			t.Errorf("%s: became %s", command, p.command)
		}
	}
	for _, command := range []string{"make test", "pytest a; pytest b", `bash -c "pytest tests"`} {
		if p, ok := canariesFor("pytest", gardenOf(command, tests)); ok {
			t.Errorf("%s: became %s", command, p.command)
		}
	}
}

func TestCanariesStandBelowTheTasksTestsToo(t *testing.T) {
	for command, named := range map[string]bool{"pytest tests/test_a.py": false, "pytest tests/test_a.py::test_x": true, "pytest": false} {
		g := gardenOf(command, "tests/test_a.py")
		g.read = func(string) ([]byte, bool) { return []byte("def test_x():\n    pass"), true }
		p, ok := canariesFor("pytest", g)
		last := p.files[len(p.files)-1]
		if !ok || !last.shared || last.path != "tests/test_a.py" || !strings.HasPrefix(last.content, "def test_x():\n    pass\n\ndef test_") {
			t.Errorf("%s: %+v", command, last)
		}
		if got := strings.Contains(p.command, "/testbed/tests/test_a.py::test_"); got != named {
			t.Errorf("%s became %s", command, p.command)
		}
		if p.broken(outcomes{"tests/test_a.py": relabel.TestError}, nil) {
			t.Error("tests that cannot be imported are taken for the canaries' fault")
		}
	}
}

func TestACanaryIsBrokenWhereItCannotRepeatATestThatPassed(t *testing.T) {
	p := planting{canaries: []canaryTest{{name: "TestEdge", key: "a_test.go calls TestHandle", status: relabel.TestFailed, calls: "TestHandle"}}}
	missed := map[string]bool{"a_test.go calls TestHandle": true}
	passed, failed := outcomes{"shop:TestHandle": relabel.TestPassed}, outcomes{"shop:TestHandle": relabel.TestFailed}
	if !p.broken(passed, missed) || p.broken(failed, missed) || p.broken(passed, nil) {
		t.Errorf("passed: %v, failed: %v, not missed: %v", p.broken(passed, missed), p.broken(failed, missed), p.broken(passed, nil))
	}
}

func TestAFailedCanaryMayEndARunOfJest(t *testing.T) {
	p := planting{stops: true, canaries: []canaryTest{{name: "first", status: relabel.TestFailed}, {name: "second", status: relabel.TestFailed}}}
	cut := outcomes{"first": relabel.TestFailed, "adds": relabel.TestPassed}
	whole := outcomes{"first": relabel.TestFailed, "second": relabel.TestFailed}
	none := outcomes{"adds": relabel.TestPassed}
	seen, unseen := map[string]relabel.TestStatus{"adds": relabel.TestPassed}, map[string]relabel.TestStatus{"adds": relabel.TestPassed, "subs": relabel.TestAbsent}
	if !p.cutShort(cut, unseen) || p.cutShort(cut, seen) || p.cutShort(whole, unseen) || p.cutShort(none, unseen) {
		t.Error("what may have ended a run is not what it is taken for")
	}
	p.stops = false
	if p.cutShort(cut, unseen) {
		t.Error("a runner that does not stop is taken for one that does")
	}
}

func TestCanariesAreDrawnForEachRun(t *testing.T) {
	g := gardenOf("pytest tests/test_a.py", "tests/test_a.py")
	first, _ := canariesFor("pytest", g)
	second, _ := canariesFor("pytest", g)
	if first.files[0].path == second.files[0].path {
		t.Errorf("two runs have %s", first.files[0].path)
	}
	fail, pass := 0, 0
	for _, c := range first.canaries {
		if c.status.Passed() {
			pass++
			continue
		}
		fail++
		for _, f := range first.files {
			if c.proof != "" && strings.Contains(f.content, c.proof) {
				t.Errorf("the proof %q stands in\n%s", c.proof, f.content)
			}
		}
	}
	if fail < 2 || pass < 2 {
		t.Errorf("%d fail and %d pass", fail, pass)
	}
}

// TestACanaryThatDoesNotEndAsItMustContradictsTheRun holds each way in which a takeover of
// the runner shows.
func TestACanaryThatDoesNotEndAsItMustContradictsTheRun(t *testing.T) {
	p := planting{failure: 1, canaries: []canaryTest{
		{name: "test_b.py::test_bad", status: relabel.TestFailed, proof: "4711"},
		{name: "test_b.py::test_good", status: relabel.TestPassed},
	}}
	log := []byte("AssertionError: 4711")
	honest := outcomes{"tests/test_b.py::test_bad": relabel.TestFailed, "tests/test_b.py::test_good": relabel.TestPassed}
	said := &report{clean: map[string]bool{"tests.test_b.test_good": true}, stained: map[string]bool{"tests.test_b.test_bad": true}}
	if misses := p.misses(log, honest, said, 1); len(misses) > 0 {
		t.Errorf("an honest run: %v", misses)
	}
	all := outcomes{"tests/test_b.py::test_bad": relabel.TestPassed, "tests/test_b.py::test_good": relabel.TestPassed}
	gone := outcomes{"tests/test_b.py::test_good": relabel.TestPassed}
	none := outcomes{"tests/test_b.py::test_bad": relabel.TestFailed, "tests/test_b.py::test_good": relabel.TestFailed}
	for name, misses := range map[string][]miss{
		"all pass":              p.misses(log, all, said, 1),
		"one is absent":         p.misses(log, gone, said, 1),
		"none passes":           p.misses(log, none, said, 1),
		"the report disagrees":  p.misses(log, honest, &report{}, 1),
		"nothing was computed":  p.misses(nil, honest, said, 1),
		"the exit code says ok": p.misses(log, honest, said, 0),
	} {
		if len(misses) == 0 {
			t.Errorf("%s: believed", name)
		}
	}
}
