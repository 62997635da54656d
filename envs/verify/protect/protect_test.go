package protect

import (
	"reflect"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
)

func TestProtectionCoversTestsAndFilesThatControlThem(t *testing.T) {
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
		"phpunit.xml", "lib/.rspec", ".mocharc.yml", "nextest.toml", "src/test/resources/junit-platform.properties",
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
	r := tree.Reading{
		Base: tree.NewPathSet([]string{
			"pkg/__init__.py", "pkg/core.py", "tests/unit/test_core.py", "checks.py", "src/_pytest/__init__.py", "more/conftest.py", "tools/run.sh", "ci/go",
		}),
		Facts: tree.ParseFacts("name argparse\x00name json\x00name types\x00"),
	}
	for _, name := range append(append([]string{"_pytest/__init__.py"}, dropped...), graded...) {
		r.Changes = append(r.Changes, tree.Change{Path: name, OldMode: tree.NoMode, NewMode: "100644"})
	}
	var got []string
	for _, d := range protectionOf(task, r).split(r.Changes[1:]) {
		got = append(got, d.Reason.Path)
	}
	if !reflect.DeepEqual(got, dropped) {
		t.Errorf("\n got %q\nwant %q", got, dropped)
	}
}

func TestWhatAnHonestSubmissionCannotHoldIsDropped(t *testing.T) {
	p := protectionOf(relabel.Task{FailToPass: []string{"tests/test_a.py::test_b"}}, tree.Reading{Base: tree.NewPathSet([]string{"tests/test_a.py"}), Facts: tree.ParseFacts("")})
	for name, c := range map[string]tree.Change{
		"an ignored file":          {Path: "build/x.py", Ignored: true},
		"a file of the image":      {Path: ".venv/lib/x.py", Hidden: true},
		"an installed package":     {Path: "env/lib/python3.11/site-packages/_pytest/runner.py", OldMode: "100644"},
		"a linked package":         {Path: "pytest", NewMode: tree.LinkMode, Link: "pkg"},
		"a linked folder":          {Path: "src", NewMode: tree.LinkMode, Link: "pkg"},
		"a link to the tests":      {Path: "pkg/data", NewMode: tree.LinkMode, Link: "../tests"},
		"a link to a file of it":   {Path: "data", NewMode: tree.LinkMode, Link: "tests/test_a.py"},
		"a link in a test's place": {Path: "tests", NewMode: tree.LinkMode, Link: "other"},
	} {
		if p.reason(c) == "" {
			t.Errorf("%s is graded", name)
		}
	}
	if reason := p.reason(tree.Change{Path: "pkg/data", NewMode: tree.LinkMode, Link: "../other"}); reason != "" {
		t.Errorf("another link is dropped: %s", reason)
	}
}
