package testlog

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"relabel"
)

const (
	passed  = relabel.TestPassed
	failing = relabel.TestFailed
	errored = relabel.TestError
	skipped = relabel.TestSkipped
	xfail   = relabel.TestXFail
	xpass   = relabel.TestXPass
)

// kinds is what the real logs of pytest in testdata say, whichever its version: each
// way in which a test ends, and ids that hold spaces, separators and brackets.
var kinds = Outcomes{
	"tests/test_broken.py":                            errored,
	"tests/test_kinds.py::test_pass":                  passed,
	"tests/test_kinds.py::test_fail":                  failing,
	"tests/test_kinds.py::test_param[a b]":            passed,
	"tests/test_kinds.py::test_param[x - y]":          passed,
	"tests/test_kinds.py::test_param[[in]]":           passed,
	"tests/test_kinds.py::test_param[/abs/path/to/f]": passed,
	`tests/test_kinds.py::test_param[\xe9]`:           passed,
	"tests/test_kinds.py::test_param[a::b]":           passed,
	`tests/test_kinds.py::test_param[tab\tend]`:       passed,
	"tests/test_kinds.py::test_param_fail[x - y]":     failing,
	"tests/test_kinds.py::test_param_fail[p q]":       failing,
	"tests/test_kinds.py::test_xfail":                 xfail,
	"tests/test_kinds.py::test_xpass":                 xpass,
	"tests/test_kinds.py::test_error":                 errored,
	"tests/test_kinds.py::test_teardown":              errored,
	"tests/test_kinds.py::TestClass::test_method":     passed,
	"tests/test_kinds.py::TestUnit::test_case":        passed,
	"tests/test_kinds.py::TestUnit::test_expected":    xfail,
}

// parserOf returns the parser of a name.
func parserOf(t *testing.T, name string) Parser {
	t.Helper()
	p, known := Find(name)
	if !known {
		t.Fatalf("no parser is named %q", name)
	}
	return p
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPytestLogsOfSeveralVersionsAreReadAlike(t *testing.T) {
	for _, log := range []string{"pytest-7.2.2.log", "pytest-8.4.1.log"} {
		if got := parsePytest(golden(t, log)); !reflect.DeepEqual(got, kinds) {
			t.Errorf("%s:\n got %v\nwant %v", log, got, kinds)
		}
	}
}

func TestVerboseAndXdistLogsGiveTheStatusOfSkippedTestsToo(t *testing.T) {
	want := maps.Clone(kinds)
	want["tests/test_kinds.py::test_skip"] = skipped
	for _, log := range []string{"pytest-verbose.log", "pytest-xdist.log"} {
		if got := parsePytestV2(golden(t, log)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", log, got, want)
		}
	}
}

func TestOptionsParserShortensAbsolutePaths(t *testing.T) {
	got := parsePytestOptions(golden(t, "pytest-8.4.1.log"))
	if got["tests/test_kinds.py::test_param[/f]"] != passed {
		t.Errorf("the path was not shortened: %v", got)
	}
}

func TestUnittestLog(t *testing.T) {
	got := parseUnittest(golden(t, "unittest-3.11.log"))
	want := map[string]relabel.TestStatus{
		"pass": passed, "doc": passed, "fail": failing, "error": errored, "skip": skipped,
		"xfail": xfail, "xpass": xpass, "noise": passed, "sub": failing,
	}
	for name, status := range want {
		for _, id := range []string{
			"test_" + name + " (test_u.Case.test_" + name + ")",
			"test_" + name + " (test_u.Case)",
			"test_u.Case.test_" + name,
		} {
			if got.Of(id) != status {
				t.Errorf("%s: got %s, want %s", id, got.Of(id), status)
			}
		}
	}
	if got.Of("Does what the doc says.") != passed {
		t.Error("a test is not known by its docstring")
	}
}

func TestDjangoLog(t *testing.T) {
	got := parserOf(t, "django").Parse(golden(t, "django.log"))
	for id, want := range map[string]relabel.TestStatus{
		"test_add (admin_views.tests.AdminTests)":    passed,
		"test_custom (admin_views.tests.AdminTests)": passed,
		"A custom permission is checked.":            passed,
		"test_other (admin_views.tests.AdminTests)":  skipped,
		"test_prints (admin_views.tests.AdminTests)": passed,
		"test_wrong (admin_views.tests.AdminTests)":  failing,
		"test_worse (admin_views.tests.AdminTests)":  errored,
		"Something worse.":                           errored,
		"test_known (admin_views.tests.AdminTests)":  xfail,
		"test_gone (admin_views.tests.AdminTests)":   relabel.TestAbsent,
	} {
		if got.Of(id) != want {
			t.Errorf("%s: got %s, want %s", id, got.Of(id), want)
		}
	}
}

func TestSympyLog(t *testing.T) {
	got := parseSympy(golden(t, "sympy.log"))
	for id, want := range map[string]relabel.TestStatus{
		"test_structure": passed, "test_equality": failing, "test_matches": errored, "test_has": xfail, "test_subs": skipped,
		"sympy/core/tests/test_basic.py:test_equality": failing,
	} {
		if got.Of(id) != want {
			t.Errorf("%s: got %s, want %s", id, got.Of(id), want)
		}
	}
}

func TestGoLogTellsPackagesApart(t *testing.T) {
	got := parseGoTest(golden(t, "gotest.log"))
	for id, want := range map[string]relabel.TestStatus{
		"example.org/g/a:TestPass": passed, "example.org/g/b:TestPass": failing, "TestPass": failing,
		"TestSkip": skipped, "TestSub": failing, "TestSub/one_two": passed, "TestSub/x": failing,
		"TestPrint": passed, "TestOnlyB": passed,
	} {
		if got.Of(id) != want {
			t.Errorf("%s: got %s, want %s", id, got.Of(id), want)
		}
	}
}

func TestJestAndVitestLogs(t *testing.T) {
	for name, log := range map[string]string{
		"jest":   "PASS src/a.test.js\n  sum\n    ✓ adds (3 ms)\n    ✕ adds floats\n    ○ skipped adds big (numbers)\n    ✎ todo later\n",
		"vitest": " ✓ adds 3ms\n × adds floats 12 ms\n   ↓ adds big (numbers) [skipped]\n",
	} {
		want := Outcomes{"adds": passed, "adds floats": failing}
		want[map[string]string{"jest": "skipped adds big (numbers)", "vitest": "adds big (numbers)"}[name]] = skipped
		if got := parserOf(t, name).Parse([]byte(log)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestJestsTestsAreFilesAndTitles(t *testing.T) {
	log := "PASS src/a.test.js (5.2 s)\n  sum\n    ✓ adds (10 ms)\nFAIL src/b.test.js\n  ✕ adds\n  ○ skipped later\n"
	want := Outcomes{
		"src/a.test.js": relabel.TestPassed, "src/a.test.js:adds": relabel.TestPassed,
		"src/b.test.js": relabel.TestFailed, "src/b.test.js:adds": relabel.TestFailed, "src/b.test.js:skipped later": relabel.TestSkipped,
	}
	if got := parseJestTitles([]byte(log)); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestTasksOfGradleAndChecksOfCMakeAreOutcomes(t *testing.T) {
	got := parseGradle([]byte("> Task :core:test\n> Task :core:check FAILED\n"))
	if want := (Outcomes{":core:test": relabel.TestPassed, "core:test": relabel.TestPassed, ":core:check": relabel.TestFailed, "core:check": relabel.TestFailed}); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	got = parseCTest([]byte("-- Performing Test HAS_X - Success\n 1/2 Test #1: a ...   Passed    0.01 sec\n"))
	if want := (Outcomes{"HAS_X": relabel.TestPassed, "a": relabel.TestPassed}); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestOfTwoOutcomesOfATestTheWorseCounts(t *testing.T) {
	log := "== short test summary info ==\nPASSED a.py::t\nFAILED a.py::t - no\nPASSED a.py::t\n== 1 failed ==\n" +
		"== short test summary info ==\nPASSED a.py::t\nPASSED a.py::u\n== 2 passed =="
	got := parsePytest([]byte(log))
	if got.Of("a.py::t") != failing || got.Of("a.py::u") != passed {
		t.Errorf("got %v", got)
	}
}

func TestTextOutsideTheSummaryIsNoOutcome(t *testing.T) {
	log := "PASSED a.py::t\n== short test summary info ==\nFAILED a.py::t\n== 1 failed ==\nPASSED a.py::u\n"
	if got := parsePytest([]byte(log)); len(got) != 1 || got.Of("a.py::t") != failing {
		t.Errorf("got %v", got)
	}
}

func TestFailedSubtestsFailTheirTest(t *testing.T) {
	for _, line := range []string{
		"SUBFAIL tests/a.py::T::t - AssertionError: 1 != 0",
		"SUBFAIL [step two] (i=1) tests/a.py::T::t - assert 0",
		"SUBFAILED(i=1) tests/a.py::T::t - AssertionError",
		"SUBFAILED[step] tests/a.py::T::t - AssertionError",
	} {
		got := parsePytest([]byte("= short test summary info =\nPASSED tests/a.py::T::t\n" + line + "\n= done ="))
		if got.Of("tests/a.py::T::t") != failing {
			t.Errorf("%s: got %v", line, got)
		}
	}
}

func TestAnIDThatWasCutStandsForAllThatStartLikeItWhereTheyAgree(t *testing.T) {
	o := Outcomes{
		"a.py::t[x y]": passed, "a.py::t[x z]": failing, "a.py::t[p q]": passed, "a.py::t[photon/s]": xfail,
		"a.py::t[log(a)]": failing, "a.py::t[log(b)]": skipped, "a.py::t[s 1]": skipped,
	}
	for id, want := range map[string]relabel.TestStatus{
		"a.py::t[x": relabel.TestAbsent, "a.py::t[p": xfail, "a.py::t[pho": xfail, "a.py::t[log(": failing, "a.py::t[s": skipped,
		"a.py::t": relabel.TestAbsent, "a.py::t[q": relabel.TestAbsent,
	} {
		if got := o.Of(id); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}

func TestMatplotlibsMouseButtonsAreNumbers(t *testing.T) {
	got := parserOf(t, "matplotlib").Parse([]byte("= short test summary info =\nPASSED t.py::test_e[MouseButton.LEFT-1]\nFAILED t.py::test_e[MouseButton.RIGHT-3] - no\n"))
	if want := (Outcomes{"t.py::test_e[1-1]": passed, "t.py::test_e[3-3]": failing}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestAMigrationOnATestsLineIsNotPartOfItsID(t *testing.T) {
	got := parserOf(t, "django").Parse([]byte("Applying sites.0002_alter_domain_unique...test_no_migrations (migrations.test_commands.MigrateTests) ... ok\n  Applying auth.0001_initial... OK\n"))
	if got.Of("test_no_migrations (migrations.test_commands.MigrateTests)") != passed {
		t.Errorf("got %v", got)
	}
}

func TestNamesOfMochaInABrowserEndAtAColonWithinTheBound(t *testing.T) {
	at := strings.Repeat("é", maxP5Name-1)
	got := parseP5([]byte("1) a:\n2)\n  group\n    test:\n3) " + at + ":\n4) x" + at + ":\n5) last\n"))
	want := Outcomes{"a": failing, at: failing}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d names, want %d: %.80v", len(got), len(want), got)
	}
}

func TestTheLastReportOfTestsCounts(t *testing.T) {
	log := `{"tests": [{"name": "old", "status": "PASSED"}]} {"tests": [{"name": "new", "status": "FAILED"}]} said "tests" ` + strings.Repeat(`"tests" `, 50)
	if got := parseTestsJSON([]byte(log)); !reflect.DeepEqual(got, Outcomes{"new": failing}) {
		t.Errorf("got %v", got)
	}
}

func FuzzParsersTakeAnyLog(f *testing.F) {
	logs, _ := filepath.Glob("testdata/*.log")
	real, _ := filepath.Glob("testdata/logs/*.log")
	for _, log := range append(logs, real...) {
		data, _ := os.ReadFile(log)
		f.Add(data)
	}
	f.Add([]byte("\x1b[31mFAILED\x00 - [ - ]\r\n\xff ... ok"))
	f.Fuzz(func(t *testing.T, log []byte) {
		for _, p := range parsers {
			for id, status := range p.Parse(log) {
				if id == "" && p.Name != "r2egym" || severity[status] == 0 {
					t.Fatalf("%s: %q is %q", p.Name, id, status)
				}
			}
		}
	})
}
