package testcmd

import (
	"testing"

	"relabel"
)

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
		command, parser := Of(c.task)
		if command != c.command || parser != c.parser {
			t.Errorf("%s: got %q, %q", name, command, parser)
		}
	}
}
