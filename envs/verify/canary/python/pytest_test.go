package python

import (
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
	"relabel/testlog"
)

// gardenOf is a repository of these files.
func gardenOf(command string, files ...string) canary.Garden {
	return canary.Garden{
		Command: command, Random: canary.Random(), Task: relabel.Task{Workdir: "/testbed", FailToPass: []string{"tests/test_a.py::test_x"}},
		Has: func(name string) bool {
			for _, f := range files {
				if f == name || strings.HasPrefix(f, name+"/") {
					return true
				}
			}
			return false
		},
		Read: func(string) ([]byte, bool) { return nil, false },
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
		p, ok := canary.Plant(Pytest{}, gardenOf(command, tests))
		if !ok {
			t.Errorf("%s: no canaries", command)
			continue
		}
		if got := strings.Contains(p.Command, "/testbed/tests/"); got != appended {
			t.Errorf("%s: became %s", command, p.Command)
		}
		words := testcmd.Words(p.Command)
		if strings.Contains(command, "|") && words[len(words)-1].Text != "cat" {
			t.Errorf("%s: became %s", command, p.Command)
		}
	}
	for _, command := range []string{"make test", "pytest a; pytest b", `bash -c "pytest tests"`} {
		if p, ok := canary.Plant((Pytest{}), gardenOf(command, tests)); ok {
			t.Errorf("%s: became %s", command, p.Command)
		}
	}
}

func TestCanariesStandBelowTheTasksTestsToo(t *testing.T) {
	for command, named := range map[string]bool{"pytest tests/test_a.py": false, "pytest tests/test_a.py::test_x": true, "pytest": false} {
		g := gardenOf(command, "tests/test_a.py")
		g.Read = func(string) ([]byte, bool) { return []byte("def test_x():\n    pass"), true }
		p, ok := canary.Plant(Pytest{}, g)
		last := p.Files[len(p.Files)-1]
		if !ok || !last.Shared || last.Path != "tests/test_a.py" || !strings.HasPrefix(last.Content, "def test_x():\n    pass\n\ndef test_") {
			t.Errorf("%s: %+v", command, last)
		}
		if got := strings.Contains(p.Command, "/testbed/tests/test_a.py::test_"); got != named {
			t.Errorf("%s became %s", command, p.Command)
		}
		if p.Broken(testlog.Outcomes{"tests/test_a.py": relabel.TestError}, nil) {
			t.Error("tests that cannot be imported are taken for the canaries' fault")
		}
	}
}

func TestCanariesAreDrawnForEachRun(t *testing.T) {
	g := gardenOf("pytest tests/test_a.py", "tests/test_a.py")
	first, _ := canary.Plant(Pytest{}, g)
	second, _ := canary.Plant(Pytest{}, g)
	if first.Files[0].Path == second.Files[0].Path {
		t.Errorf("two runs have %s", first.Files[0].Path)
	}
	fail, pass := 0, 0
	for _, c := range first.Canaries {
		if c.Status.Passed() {
			pass++
			continue
		}
		fail++
		for _, f := range first.Files {
			if c.Proof != "" && strings.Contains(f.Content, c.Proof) {
				t.Errorf("the proof %q stands in\n%s", c.Proof, f.Content)
			}
		}
	}
	if fail < 2 || pass < 2 {
		t.Errorf("%d fail and %d pass", fail, pass)
	}
}
