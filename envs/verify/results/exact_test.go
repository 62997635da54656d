package results

import (
	"maps"
	"testing"

	"relabel"
	"relabel/testlog"
)

func TestAnExpectedOutcomeMustBeMetExactly(t *testing.T) {
	outcomes := testlog.Outcomes{"TestWeb.test_find": relabel.TestPassed, "test_b[x - y]": relabel.TestPassed, "test_a": relabel.TestFailed, "": relabel.TestError}
	expected := map[string]relabel.TestStatus{"TestWeb.test_find": relabel.TestPassed, "test_b[x": relabel.TestPassed, "test_a": relabel.TestFailed, "": relabel.TestError}
	if v := Grade(relabel.Task{Expected: expected}, outcomes); !v.Passed || v.Reason != relabel.VerdictTestsPassed || !maps.Equal(v.Tests, expected) {
		t.Errorf("equal outcomes: %+v", v)
	}
	for name, change := range map[string]func(map[string]relabel.TestStatus){
		"a further test": func(m map[string]relabel.TestStatus) { delete(m, "test_a") }, "an absent test": func(m map[string]relabel.TestStatus) { m["test_c"] = relabel.TestPassed },
		"a better test": func(m map[string]relabel.TestStatus) { m["TestWeb.test_find"] = relabel.TestFailed },
	} {
		other := maps.Clone(expected)
		change(other)
		if v := Grade(relabel.Task{Expected: other}, outcomes); v.Passed || v.Reason != relabel.VerdictTests {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
