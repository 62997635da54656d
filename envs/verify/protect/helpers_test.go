package protect

import (
	"slices"
	"testing"

	"relabel"
	"relabel/envs/verify/tree"
)

// edits returns a task's reading with a base, where these files are changed; a file that
// the base has not is added.
func edits(base []string, names ...string) tree.Reading {
	r := tree.Reading{Base: tree.NewPathSet(base), Facts: tree.ParseFacts("")}
	for _, name := range names {
		c := tree.Change{Path: name, OldMode: "100644", NewMode: "100644"}
		if !r.Base.Files[name] {
			c.OldMode = tree.NoMode
		}
		r.Changes = append(r.Changes, c)
	}
	return r
}

// patchOf returns a patch that touches these files.
func patchOf(names ...string) string {
	patch := ""
	for _, name := range names {
		patch += "--- a/" + name + "\n+++ b/" + name + "\n@@ -1 +1 @@\n-a\n+b\n"
	}
	return patch
}

func droppedOf(task relabel.Task, r tree.Reading) []string {
	names := []string{}
	for _, d := range protectionOf(task, r).split(r.Changes) {
		names = append(names, d.Reason.Path)
	}
	return names
}

func TestHelpersOfTestsAreDroppedWhereverTheyLie(t *testing.T) {
	helpers := []string{
		"pkg/testing.py", "xarray/testing.py", "sympy/testing/runtests.py", "numpy/testing/_private/utils.py", "django/test/client.py", "pkg/_testing/__init__.py",
		"sklearn/utils/_testing.py", "scipy/_lib/_testutils.py", "aiohttp/test_helpers/x.py", "starlette/testclient.py", "pylint/testutils/lint.py", "pkg/utils_for_tests.py",
		"internal/testutil/same.go", "testhelpers/check.go", "pkg/store/testing.go", "x/test-helpers/a.go", "pkg/testdata/want.golden", "cmd/a/x.golden",
		"test-utils/render.tsx", "src/testing.ts", "src/TestUtils.tsx", "src/testHelpers/index.js", "src/test/setup.ts", "lib/fixtures/a.json",
		"packages/internal-test-utils/index.js", "src/ReactTestUtils.js", "pkg/common_test_helpers.pyx",
	}
	products := []string{
		"src/jinja2/tests.py", "src/werkzeug/test.py", "src/_pytest/unittest.py", "src/_pytest/fixtures.py", "mypy/stubtest.py", "django/core/management/commands/test.py",
		"docs/testing.rst", "pkg/contest.py", "pkg/latest.go", "src/attest/sign.ts", "src/testimonials.tsx", "pkg/protest/x.py", "src/spec/parse.py", "lib/golden_section.py",
		"jest-runner/src/runTest.ts", "src/helpers.py", "pkg/testable.py", "src/attestUtils.ts", "src/latestData.ts",
	}
	r := edits(append(slices.Clone(helpers), products...), append(slices.Clone(helpers), products...)...)
	task := relabel.Task{TestPatch: patchOf("checks/test_core.py"), Patch: patchOf("pkg/core.py"), TestCmd: "pytest checks", LogParser: "pytest"}
	if got := droppedOf(task, r); !slices.Equal(got, helpers) {
		t.Errorf("\n got %q\nwant %q", got, helpers)
	}
}

func TestModulesThatShadowAHelperAreDropped(t *testing.T) {
	base := []string{"pkg/testing.py", "pkg/test/utils.py", "src/testing.ts", "test-utils/a.ts"}
	places := []string{"pkg/testing/__init__.py", "pkg/test/__init__.py", "pkg/test.py", "src/testing.js", "src/testing/index.js", "test-utils/a.js", "test-utils.js", "Pkg/Testing.py"}
	fresh := []string{"pkg/test_utils/tools.py", "new/testing.py", "app/test.py", "src/testing-library.ts", "src/tests.js"}
	r := edits(base, append(slices.Clone(places), fresh...)...)
	if got := droppedOf(relabel.Task{LogParser: "jest", TestCmd: "jest"}, r); !slices.Equal(got, places) {
		t.Errorf("\n got %q\nwant %q", got, places)
	}
	link := tree.Change{Path: "pkg/testing", OldMode: tree.NoMode, NewMode: tree.LinkMode, Link: "spare"}
	if reason := protectionOf(relabel.Task{}, r).reason(link); reason == "" {
		t.Error("a link in the place of a helper is graded")
	}
}

func TestHelpersThatAreTheSubjectOfATaskAreGraded(t *testing.T) {
	base := []string{"pkg/testing.py", "django/test/client.py", "django/test/utils.py", "internal/testutil/a.go", "pkg/_testing/a.py", "other/testing.py", "tests/x.py"}
	for name, c := range map[string]struct {
		task relabel.Task
		want []string
	}{
		"the gold patch changes nothing": {relabel.Task{}, base},
		"the gold patch changes one":     {relabel.Task{Patch: patchOf("pkg/testing.py")}, slices.DeleteFunc(slices.Clone(base), func(f string) bool { return f == "pkg/testing.py" })},
		"the gold patch makes a package of it": {relabel.Task{Patch: patchOf("pkg/testing/__init__.py")},
			slices.DeleteFunc(slices.Clone(base), func(f string) bool { return f == "pkg/testing.py" })},
		"the gold patch changes another in its folder": {relabel.Task{Patch: patchOf("django/test/runner.py")}, []string{base[0], base[3], base[4], base[5], base[6]}},
		"tests bear its name":                          {relabel.Task{TestPatch: patchOf("tests/test_testing.py")}, []string{base[1], base[2], base[3], base[6]}},
		"tests lie in its package": {relabel.Task{TestPatch: patchOf("internal/testutil/a_test.go"), LogParser: "gotest", TestCmd: "go test ./..."},
			[]string{base[0], base[1], base[2], base[4], base[5], base[6]}},
	} {
		if got := droppedOf(c.task, edits(base, base...)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}
