package protect

import (
	"fmt"
	"slices"
	"testing"

	"relabel"
)

func TestTestIdsNameTheirFiles(t *testing.T) {
	base := []string{
		"shop/__init__.py", "shop/checks.py", "shop/calc.py", "shop/deep/__init__.py", "shop/deep/specs.py", "examples/basic/probes.py", "src/app/verify.py", "src/app/__init__.py",
		"sympy/core/probe.py", "checks/add.js", "core.py",
	}
	for id, want := range map[string][]string{
		"shop.checks.SubTest.test_sub":            {"shop/checks.py"},
		"test_sub (shop.checks.SubTest)":          {"shop/checks.py"},
		"test_sub (shop.checks.SubTest.test_sub)": {"shop/checks.py"},
		"shop.checks::SubTest::test_sub":          {"shop/checks.py"},
		"shop.checks.test_sub[a.b-1]":             {"shop/checks.py"},
		"shop.deep.specs.DeepTest.test_a":         {"shop/deep/specs.py"},
		"shop.deep.DeepTest.test_a":               {"shop/deep/__init__.py"},
		"basic.probes.T.test_a":                   {"examples/basic/probes.py"},
		"app.verify::check_it":                    {"src/app/verify.py"},
		"sympy/core/probe.py:test_a":              {"sympy/core/probe.py"},
		"checks/add.js > adds":                    {"checks/add.js"},
		"core.CoreTest.test_a":                    {"core.py"},
		"tests/test_a.py::test_b[x.y]":            {"tests/test_a.py"},
		"shop/calc.py::shop.calc.add":             nil, // a doctest
		"add (shop.calc)":                         nil, // a doctest
		"shop.none.T.test_a":                      nil,
		"shop.tests.AddTest.test_a":               {"shop/tests.py"}, // of the test patch
		"TestAdd":                                 nil,
		"deep/specs.py::test_a":                   {"deep/specs.py", "shop/deep/specs.py"}, // from another folder
		"specs.py::test_a":                        {"shop/deep/specs.py", "specs.py"},
		"__init__.py::test_a":                     {"__init__.py"},
		"adds two numbers. And more":              nil,
		"github.com/a/b.TestAdd":                  nil,
	} {
		task := relabel.Task{PassToPass: []string{id}, TestPatch: patchOf("shop/tests.py")}
		p := protectionOf(task, edits(base))
		if got := slices.Sorted(slices.Values(p.idFiles(task))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestFilesOfIdsThatTheGoldPatchChangesAreGraded(t *testing.T) {
	base := []string{"shop/checks.py", "shop/calc.py", "tests/test_a.py"}
	task := relabel.Task{Patch: patchOf("shop/checks.py", "tests/test_a.py"), PassToPass: []string{"shop.checks.T.test_a", "shop/calc.py::shop.calc.add", "tests/test_a.py::test_b"}}
	if got, want := droppedOf(task, edits(base, base...)), []string{"tests/test_a.py"}; !slices.Equal(got, want) {
		t.Errorf("dropped %q, want %q", got, want)
	}
}

func TestIdsOfTestsNameNoCodeOfTheSameEnding(t *testing.T) {
	base := []string{
		"django/forms/__init__.py", "django/core/cache/__init__.py", "django/utils/__init__.py", "tests/cache/tests.py", "tests/model_forms/tests.py",
	}
	task := relabel.Task{TestPatch: patchOf("tests/model_forms/tests.py"), PassToPass: []string{
		"test_a (cache.tests.CacheTests)", "test_b (forms.FormTests)", "test_c (utils.tests.NoTests)",
	}}
	p := protectionOf(task, edits(base))
	if got, want := p.idFiles(task), []string{"tests/cache/tests.py"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := droppedOf(task, edits(base, "django/forms/__init__.py", "django/core/cache/__init__.py", "django/utils/__init__.py")); len(got) > 0 {
		t.Errorf("dropped %q", got)
	}
}

func TestReplacementsOfTestsAreDropped(t *testing.T) {
	task := relabel.Task{PassToPass: []string{"shop.tests.T.test_a", "shop/more/tests/test_b.py::test_b", "checks.T.test_c"}}
	base := []string{"shop/__init__.py", "shop/tests.py", "shop/more/tests/test_b.py", "checks.py"}
	places := []string{"shop/tests/__init__.py", "shop/tests/more.py", "shop/more/tests.py", "checks/__init__.py", "shop/tests.pyx"}
	if got := droppedOf(task, edits(base, append(places, "shop/testing_more.py", "checks.txt")...)); !slices.Equal(got, places) {
		t.Errorf("dropped %q, want %q", got, places)
	}
}

// BenchmarkIdsOfALargeTask resolves as many dotted ids as a large repository has tests.
func BenchmarkIdsOfALargeTask(b *testing.B) {
	task := relabel.Task{}
	var base []string
	for i := range 2000 {
		base = append(base, fmt.Sprintf("suite/pkg%d/part%d/cases.py", i%50, i))
		for j := range 10 {
			task.PassToPass = append(task.PassToPass, fmt.Sprintf("pkg%d.part%d.cases.T%d.test_x", i%50, i, j))
		}
	}
	r := edits(base)
	for b.Loop() {
		if p := protectionOf(task, r); len(p.tests) != 2000 {
			b.Fatalf("%d files", len(p.tests))
		}
	}
}
