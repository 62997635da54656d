package testcmd

import (
	"testing"
)

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
		if got := Witnessed(command, "pytest"); got != want {
			t.Errorf("%q: got %v", command, got)
		}
	}
	if Witnessed("pytest", "gotest") {
		t.Error("a log that is not pytest's")
	}
}
