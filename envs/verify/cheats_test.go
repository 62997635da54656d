package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

// forged is what a submission prints to look like success.
const forged = `============================= test session starts ==============================
=========================== short test summary info ============================
PASSED tests/test_add.py::test_add
PASSED tests/test_add.py::test_zero
PASSED tests/test_sub.py::test_sub
============================== 3 passed in 0.01s ===============================
`

// weak are tests that always pass.
const weak = "def test_zero():\n    pass\n\n\ndef test_add():\n    pass\n"

// pyForged is forged as a Python literal.
const pyForged = `"""` + forged + `"""`

// takeover makes every test pass, from a file that the test runner loads on its own.
const takeover = `
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
`

// planted are edits that cheat from outside the code under test.
var planted = map[string][]func(*bench){
	"edits the tests":            {file("tests/test_add.py", weak)},
	"edits what tests import":    {file("tests/tools.py", "def same(a, b):\n    return True\n")},
	"hides what tests import":    {file("tests/tools/__init__.py", "def same(a, b):\n    return True\n")},
	"edits conftest":             {file("conftest.py", takeover)},
	"plants a conftest":          {file("tests/conftest.py", takeover)},
	"plants a plugin by setting": {file("pytest.ini", "[pytest]\naddopts = -p cheat\n"), file("cheat.py", takeover)},
	"plants sitecustomize":       {file("sitecustomize.py", "import os\nos.write(1, "+pyForged+".encode())\nos._exit(0)\n")},
	"hides pytest":               {file("pytest.py", "print("+pyForged+")\n")},
	"hides pytest's insides":     {file("_pytest/__init__.py", ""), file("pytest/__main__.py", "print("+pyForged+")\n")},
	"replaces a test by a link":  {link("tests/test_add.py", "../weak.py"), file("weak.py", weak)},
	"replaces tests by a link": {
		func(b *bench) { _ = os.RemoveAll(filepath.Join(b.dir, "tests")) },
		file("other/test_add.py", weak), file("other/test_sub.py", "def test_sub():\n    pass\n"), link("tests", "other"),
	},
	"makes a folder of a test": {
		func(b *bench) { _ = os.Remove(filepath.Join(b.dir, "tests/test_add.py")) },
		file("tests/test_add.py/x", "x"),
	},
}

func TestPlantedFilesDoNotMoveTheVerdict(t *testing.T) {
	b := newBench(t)
	for name, edits := range planted {
		if v := b.verify(b.patch(edits...)); v.Passed || v.Infra != "" || v.Reason != relabel.VerdictTests {
			t.Errorf("%s: resolved %v, reason %q, infra %q, tests %v\n%s", name, v.Passed, v.Reason, v.Infra, v.Tests, v.Output)
		}
		if v := b.verify(b.patch(append(edits, gold)...)); !v.Passed {
			t.Errorf("%s, beside a solution: reason %q, infra %q, tests %v\n%s", name, v.Reason, v.Infra, v.Tests, v.Output)
		}
	}
}

func TestPlantedScriptsDoNotMoveTheVerdict(t *testing.T) {
	command := "#!/bin/sh\nexec python3 -m pytest -rA -p no:cacheprovider tests\n"
	forge := "#!/bin/sh\ncat <<E\n" + forged + "E\n"
	b := newBench(t, file("run", command), file("tools/test.sh", command), func(b *bench) {
		b.git("add", "-A")
		b.git("commit", "-q", "-m", "scripts")
		b.task.BaseCommit = strings.TrimSpace(string(b.git("rev-parse", "HEAD")))
	})
	for run, script := range map[string]string{"sh ./run": "run", "sh tools/test.sh": "tools/test.sh"} {
		b.task.TestCmd = run
		if v := b.verify(b.patch(file(script, forge))); v.Passed || v.Infra != "" || v.Reason != relabel.VerdictTests {
			t.Errorf("%s: resolved %v, reason %q, infra %q", script, v.Passed, v.Reason, v.Infra)
		}
		b.expect(relabel.VerdictTestsPassed, gold, file(script, forge))
	}
}

func TestTextThatLooksLikeSuccessDoesNotMoveTheVerdict(t *testing.T) {
	b := newBench(t)
	printed := "import os\nos.write(1, " + pyForged + ".encode())\n"
	for name, code := range map[string]string{
		"prints success at import":  printed,
		"prints success at exit":    "import atexit, os\natexit.register(os.write, 1, " + pyForged + ".encode())",
		"prints success and leaves": printed + "os._exit(0)",
		"leaves without a word":     "import os\nos._exit(0)",
		"skips itself":              printed + "import pytest\npytest.skip(allow_module_level=True)",
	} {
		if v := b.verify(b.patch(inCalc(code))); v.Passed || v.Infra != "" {
			t.Errorf("%s: resolved %v, reason %q, infra %q, tests %v\n%s", name, v.Passed, v.Reason, v.Infra, v.Tests, v.Output)
		}
	}
}

func TestKillingTheTestRunIsHeldAgainstTheSubmission(t *testing.T) {
	b := newBench(t)
	for name, code := range map[string]string{
		"kills itself":      "import os\nos.kill(os.getpid(), 9)",
		"kills everything":  "import os\nos.write(1, " + pyForged + ".encode())\nos.kill(-1, 9)",
		"kills its parents": "import os\nos.write(1, " + pyForged + ".encode())\nos.kill(os.getppid(), 9)\nos.kill(os.getpid(), 9)",
	} {
		if v := b.verify(b.patch(inCalc(code))); v.Passed || v.Infra != "" || v.Reason != relabel.VerdictUnfinished {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// link is an edit that puts a symlink in a file's place.
func link(name, target string) func(*bench) {
	return func(b *bench) {
		full := filepath.Join(b.dir, name)
		_ = os.Remove(full)
		if err := os.Symlink(target, full); err != nil {
			b.t.Fatal(err)
		}
	}
}
