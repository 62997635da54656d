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
	p := protectionOf(task, []string{"pkg", "tests", "checks.py", "src", "src/_pytest"})
	var files []patchFile
	protected := []string{
		"tests/unit/test_core.py", "tests/unit/data/expected.json", "pkg/sub/tests/tools.py", "checks.py",
		"conftest.py", "pkg/conftest.py", "pytest.ini", "sitecustomize.py", "pytest.py", "_pytest/runner.py",
		"src/pytest.py", "src/pluggy/__init__.py", "new/test_more.py", "pkg/core_test.go",
		"Makefile", "tools/run.sh", "ci/go",
		"tests", "pkg/sub", "tests/unit/test_core.py/x.py", "tests/other.py",
	}
	free := []string{
		"pkg/core.py", "tox.ini", "pkg/testing.py", "src/_pytest/runner.py", "pkg/pytest.py", "README.md", "tools/other.sh", "pkg/Makefile",
		"pkg/sub/code.py",
	}
	for _, name := range append(append([]string(nil), protected...), free...) {
		files = append(files, patchFile{path: name})
	}
	if got := p.among(files); !reflect.DeepEqual(got, protected) {
		t.Errorf("\n got %q\nwant %q", got, protected)
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
