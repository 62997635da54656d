package python

import (
	"math/rand/v2"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
)

// makers are those of the parsers of this file.
var makers = map[string]canary.Maker{"unittest": Unittest{}, "django": Unittest{}, "sympy": Sympy{}}

// unittestGarden is a repository with one test file that the test patch changes.
func unittestGarden(command, file string) canary.Garden {
	patch := "diff --git a/FILE b/FILE\n--- a/FILE\n+++ b/FILE\n@@ -1 +1,2 @@\n x\n+y\n"
	return canary.Garden{
		Task: relabel.Task{TestPatch: strings.ReplaceAll(patch, "FILE", file), Workdir: "/testbed"}, Command: command, Random: rand.New(rand.NewPCG(1, 2)),
		Has:  func(name string) bool { return name == file },
		Read: func(name string) ([]byte, bool) { return nil, false },
	}
}

func TestRunnersGetTheModulesOfCanaries(t *testing.T) {
	for _, c := range []struct{ parser, command, file, added string }{
		{"unittest", "python3 -m unittest -v tests.test_add", "tests/test_add.py", " tests.test_"},
		{"unittest", "python3 -m unittest -v tests/test_add.py", "tests/test_add.py", " tests/test_"},
		{"unittest", "cd tests && python -m unittest test_add", "tests/test_add.py", " test_"},
		{"unittest", "python3 -m unittest discover -v", "tests/test_add.py", ""},
		{"django", "./tests/runtests.py --verbosity 2 --parallel 1 adding.tests", "tests/adding/tests.py", " adding.test_"},
		{"django", "python manage.py test adding.tests", "adding/tests.py", " adding.test_"},
		{"sympy", "bin/test -C --verbose sympy/core/tests/test_add.py", "sympy/core/tests/test_add.py", " sympy/core/tests/test_"},
	} {
		p, ok := makers[c.parser].Plant(unittestGarden(c.command, c.file))
		added, extended := strings.CutPrefix(p.Command, c.command)
		if !ok || !extended || !strings.HasPrefix(added, c.added) || (c.added == "") != (added == "") || p.Failure != 1 || len(p.Files) != 1 || len(p.Canaries) < 4 {
			t.Errorf("%s: %v %+v", c.command, ok, p)
		}
	}
}

func TestRunnersThatStopOrChooseRunNoCanaries(t *testing.T) {
	for parser, command := range map[string]string{
		"unittest": "python3 -m unittest -f tests.test_add", "django": "./tests/runtests.py --failfast adding.tests", "sympy": "make test",
	} {
		if _, ok := makers[parser].Plant(unittestGarden(command, "tests/test_add.py")); ok {
			t.Errorf("%s: canaries that are not run", command)
		}
	}
}

func TestFilesOfUnittestAreFoundByTheirIds(t *testing.T) {
	for id, file := range map[string]string{
		"tests.test_add.AddTest.test_add": "tests/test_add.py", "test_add (adding.tests.AddTest)": "tests/adding/tests.py",
		"test_add (adding.tests.AddTest.test_add)": "tests/adding/tests.py", "nothing": "",
	} {
		g := unittestGarden("", file)
		g.Task.FailToPass = []string{id}
		g.Task.TestPatch = ""
		if got := strings.Join(testFilesOf(g), " "); got != file {
			t.Errorf("%s: %q, want %q", id, got, file)
		}
	}
}

func TestEachAssertionThatATestCaseUsesHasACanaryThatFails(t *testing.T) {
	var content string
	for _, claim := range unittestClaims {
		content += "self." + claim.use + "(\n"
	}
	g := unittestGarden("python3 -m unittest tests.test_add", "tests/test_add.py")
	g.Read = func(string) ([]byte, bool) { return []byte(content), true }
	p, _ := Unittest{}.Plant(g)
	for _, claim := range unittestClaims {
		if !strings.Contains(p.Files[0].Content, "self."+claim.use) {
			t.Errorf("no canary uses %s", claim.use)
		}
	}
	for _, c := range p.Canaries {
		if c.Proof != "" && strings.Contains(p.Files[0].Content, c.Proof) {
			t.Errorf("%s says %s in its file", c.Name, c.Proof)
		}
	}
}
