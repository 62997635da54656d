package verify

import (
	"testing"

	"relabel"
)

func TestReportBearsOutWhatTheLogSays(t *testing.T) {
	clean := parseReport(golden(t, "junit-8.4.1.xml")).clean
	for id, status := range parsePytest(golden(t, "pytest-8.4.1.log")) {
		success := status == relabel.TestPassed || status == relabel.TestXFail
		if success && !clean[plainName(id)] {
			t.Errorf("%s passed and the report does not say so", id)
		}
		if (status == relabel.TestFailed || status == relabel.TestError) && clean[plainName(id)] {
			t.Errorf("%s failed and the report does not say so", id)
		}
	}
	if clean[plainName("tests/test_kinds.py::test_skip")] {
		t.Error("a skipped test passed")
	}
}

func TestBrokenReportsBearNothingOut(t *testing.T) {
	for _, report := range []string{"", "not xml", `<testsuite><testcase classname="a" name="t"/><testcase `, "\xff\x00"} {
		if clean := parseReport([]byte(report)).clean; len(clean) > 0 {
			t.Errorf("%q: %v", report, clean)
		}
	}
}

func TestPytestIsAskedForAReportWhereItCanBe(t *testing.T) {
	for command, want := range map[string]bool{
		"pytest -rA tests": true,
		"PYTHONPATH=. python3 -m pytest -rA -o addopts= tests/": true,
		"cd sub && ./bin/py.test -rA":                           true,
		"pytest -rA a; pytest -rA b":                            false,
		"PYTEST_ADDOPTS=-q pytest":                              false,
		"pytest --junitxml=out.xml":                             false,
		"tox -e py -- pytest -rA":                               false,
		"make test":                                             false,
		"python tests/pytest_like.py":                           false,
	} {
		if got := witnessed(command, "pytest"); got != want {
			t.Errorf("%q: got %v", command, got)
		}
	}
	if witnessed("pytest", "gotest") {
		t.Error("a log that is not pytest's")
	}
}
