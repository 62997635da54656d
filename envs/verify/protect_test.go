package verify

import (
	"reflect"
	"testing"

	"relabel"
)

func TestProtectionCoversTestsAndWhatSteersThem(t *testing.T) {
	task := relabel.Task{
		Patch:      "--- a/pkg/core.py\n+++ b/pkg/core.py\n@@ -1 +1 @@\n-a\n+b\n--- a/tox.ini\n+++ b/tox.ini\n@@ -1 +1 @@\n-a\n+b\n",
		TestPatch:  "--- a/tests/unit/test_core.py\n+++ b/tests/unit/test_core.py\n@@ -1 +1 @@\n-a\n+b\n",
		FailToPass: []string{"tests/unit/test_core.py::test_x"},
		PassToPass: []string{"pkg/sub/tests/test_sub.py::test_y", "checks.py::test_z"},
	}
	task.TestCmd = "cd . && make check; sh tools/run.sh ./ci/go pkg/core.py"
	dropped := []string{
		"tests/unit/test_core.py", "tests/unit/data/expected.json", "pkg/sub/tests/tools.py", "checks.py",
		"conftest.py", "pkg/conftest.py", "pytest.ini", "sitecustomize.py", "pytest.py", "_pytest/runner.py",
		"src/argparse.py", "src/pluggy/__init__.py", "new/test_more.py", "pkg/core_test.go", "more/json.py",
		"Makefile", "tools/run.sh", "ci/go", "tools/other.sh",
		"tests", "pkg/sub", "tests/unit/test_core.py/x.py", "tests/other.py",
		"x-1.0.dist-info/METADATA", "pkg.egg-info/entry_points.txt", "a.pth", "pkg/__editable__x.py", "pkg/core.cpython-311-x86_64-linux-gnu.so",
		"pkg/__pycache__/core.cpython-311.pyc", "argparse.pyc", "Conftest.py", "Tests/unit/test_core.py", ".gitattributes", ".env", ".coveragerc",
		"tests.py", "src/tests.py", "lib/tests/tools.py", "pkg/conftest/__init__.py", "org/python/core.py", "src/colorama.py",
	}
	graded := []string{
		"pkg/core.py", "tox.ini", "pkg/testing.py", "src/_pytest/runner.py", "pkg/pytest.py", "pkg/types.py", "README.md", "pkg/Makefile",
		"pkg/sub/code.py", "json/data.txt", "src/json/schema.py", "newmodule.py", ".gitignore", "pkg/org/core.py",
	}
	r := reading{
		base: newPathSet([]string{
			"pkg/__init__.py", "pkg/core.py", "tests/unit/test_core.py", "checks.py", "src/_pytest/__init__.py", "more/conftest.py", "tools/run.sh", "ci/go",
		}),
		facts: parseFacts("name argparse\x00name json\x00name types\x00"),
	}
	for _, name := range append(append([]string{"_pytest/__init__.py"}, dropped...), graded...) {
		r.changes = append(r.changes, change{path: name, oldMode: noMode, newMode: "100644"})
	}
	var got []string
	for _, d := range protectionOf(task, r).split(r.changes[1:]) {
		got = append(got, d.reason.Path)
	}
	if !reflect.DeepEqual(got, dropped) {
		t.Errorf("\n got %q\nwant %q", got, dropped)
	}
}

func TestWhatAnHonestSubmissionCannotHoldIsDropped(t *testing.T) {
	p := protectionOf(relabel.Task{FailToPass: []string{"tests/test_a.py::test_b"}}, reading{base: newPathSet([]string{"tests/test_a.py"}), facts: parseFacts("")})
	for name, c := range map[string]change{
		"an ignored file":          {path: "build/x.py", ignored: true},
		"a file of the image":      {path: ".venv/lib/x.py", hidden: true},
		"an installed package":     {path: "env/lib/python3.11/site-packages/_pytest/runner.py", oldMode: "100644"},
		"a linked package":         {path: "pytest", newMode: linkMode, link: "pkg"},
		"a linked folder":          {path: "src", newMode: linkMode, link: "pkg"},
		"a link to the tests":      {path: "pkg/data", newMode: linkMode, link: "../tests"},
		"a link to a file of it":   {path: "data", newMode: linkMode, link: "tests/test_a.py"},
		"a link in a test's place": {path: "tests", newMode: linkMode, link: "other"},
	} {
		if p.reason(c) == "" {
			t.Errorf("%s is graded", name)
		}
	}
	if reason := p.reason(change{path: "pkg/data", newMode: linkMode, link: "../other"}); reason != "" {
		t.Errorf("another link is dropped: %s", reason)
	}
}

func TestDefaultTestCommand(t *testing.T) {
	file := func(name string) string { return "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-a\n+b\n" }
	for name, c := range map[string]struct {
		task            relabel.Task
		command, parser string
	}{
		"pytest": {
			relabel.Task{Repo: "a/b", TestPatch: file("tests/test_b.py") + file("tests/conftest.py") + file("docs/x.rst"),
				FailToPass: []string{"tests/it's/test_a.py::t[1]"}},
			`python3 -m pytest -rA -p no:cacheprovider --continue-on-collection-errors 'tests/it'\''s/test_a.py' tests/test_b.py`, "pytest",
		},
		"django": {
			relabel.Task{Repo: "django/django", TestPatch: file("tests/admin_views/tests.py"), FailToPass: []string{"test_x (admin_views.tests.T)"}},
			"./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 admin_views.tests", "django",
		},
		"own command": {relabel.Task{TestCmd: "make test", LogParser: "gotest"}, "make test", "gotest"},
	} {
		command, parser := testCommand(c.task)
		if command != c.command || parser != c.parser {
			t.Errorf("%s: got %q, %q", name, command, parser)
		}
	}
}
