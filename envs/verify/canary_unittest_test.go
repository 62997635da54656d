package verify

import (
	"math/rand/v2"
	"strings"
	"testing"

	"relabel"
)

// unittestGarden is a repository with one test file that the test patch changes.
func unittestGarden(command, file string) garden {
	patch := "diff --git a/FILE b/FILE\n--- a/FILE\n+++ b/FILE\n@@ -1 +1,2 @@\n x\n+y\n"
	return garden{
		task: relabel.Task{TestPatch: strings.ReplaceAll(patch, "FILE", file), Workdir: "/testbed"}, command: command, random: rand.New(rand.NewPCG(1, 2)),
		has:  func(name string) bool { return name == file },
		read: func(name string) ([]byte, bool) { return nil, false },
	}
}

func TestRunnersAreToldTheModulesOfCanaries(t *testing.T) {
	for _, c := range []struct{ parser, command, file, added string }{
		{"unittest", "python3 -m unittest -v tests.test_add", "tests/test_add.py", " tests.test_"},
		{"unittest", "python3 -m unittest -v tests/test_add.py", "tests/test_add.py", " tests/test_"},
		{"unittest", "cd tests && python -m unittest test_add", "tests/test_add.py", " test_"},
		{"unittest", "python3 -m unittest discover -v", "tests/test_add.py", ""},
		{"django", "./tests/runtests.py --verbosity 2 --parallel 1 adding.tests", "tests/adding/tests.py", " adding.test_"},
		{"django", "python manage.py test adding.tests", "adding/tests.py", " adding.test_"},
		{"sympy", "bin/test -C --verbose sympy/core/tests/test_add.py", "sympy/core/tests/test_add.py", " sympy/core/tests/test_"},
	} {
		p, ok := canaryMakers[c.parser].plant(unittestGarden(c.command, c.file))
		added, extended := strings.CutPrefix(p.command, c.command)
		if !ok || !extended || !strings.HasPrefix(added, c.added) || (c.added == "") != (added == "") || p.failure != 1 || len(p.files) != 1 || len(p.canaries) < 4 {
			t.Errorf("%s: %v %+v", c.command, ok, p)
		}
	}
}

func TestRunnersThatStopOrChooseRunNoCanaries(t *testing.T) {
	for parser, command := range map[string]string{
		"unittest": "python3 -m unittest -f tests.test_add", "django": "./tests/runtests.py --failfast adding.tests", "sympy": "make test",
	} {
		if _, ok := canaryMakers[parser].plant(unittestGarden(command, "tests/test_add.py")); ok {
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
		g.task.FailToPass = []string{id}
		g.task.TestPatch = ""
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
	g.read = func(string) ([]byte, bool) { return []byte(content), true }
	p, _ := unittestCanaries{}.plant(g)
	for _, claim := range unittestClaims {
		if !strings.Contains(p.files[0].content, "self."+claim.use) {
			t.Errorf("no canary uses %s", claim.use)
		}
	}
	for _, c := range p.canaries {
		if c.proof != "" && strings.Contains(p.files[0].content, c.proof) {
			t.Errorf("%s says %s in its file", c.name, c.proof)
		}
	}
}
