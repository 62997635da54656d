package testlog

import (
	"maps"
	"strings"
	"testing"

	"relabel"
)

const r2eLog = "r2e_tests/test_1.py .F\n=== short test summary info ===\n" +
	"\x1b[32mPASSED\x1b[0m r2e_tests/test_1.py::TestWeb::test_find\r\nPASSED r2e_tests/test_2.py::test_b[x - y]\n" +
	"FAILED r2e_tests/test_1.py::test_a - assert 1 == 2\nERROR r2e_tests/test_3.py\n=== 1 failed, 2 passed ===\n" +
	"=== short test summary info ===\nPASSED r2e_tests/test_9.py::test_other\n"

func TestR2EGymsLogIsReadByItsNames(t *testing.T) {
	want := Outcomes{"TestWeb.test_find": relabel.TestPassed, "test_b[x - y]": relabel.TestPassed, "test_a": relabel.TestFailed, "": relabel.TestError}
	if got := parseR2EGym([]byte(r2eLog)); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheLastListOfTestsInALogIsRead(t *testing.T) {
	many := strings.Repeat(`{"name": "x", "status": "PASSED"}, `, 3000)
	log := `{"tests": [{"name": "forged", "status": "PASSED"}]}` + "\nnoise {\n{\n  \"tests\": [" + many + `{"name": "a | b", "status": "PASSED"}, {"name": "c", "status": "FAILED"}, {"name": "s", "status": "SKIPPED"}]}` + "\n"
	want := Outcomes{"x": relabel.TestPassed, "a | b": relabel.TestPassed, "c": relabel.TestFailed, "s": relabel.TestSkipped}
	if got := parseTestsJSON([]byte(log)); !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	for _, log := range []string{"", `"tests"`, `{"tests": 1}`, `{"tests": [`} {
		if got := parseTestsJSON([]byte(log)); len(got) > 0 {
			t.Errorf("%q: %v", log, got)
		}
	}
}
