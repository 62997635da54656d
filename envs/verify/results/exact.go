package results

import (
	"maps"
	"slices"
	"strings"

	"relabel"
	"relabel/testlog"
)

// gradeExactly returns a verdict that passes if the outcomes are exactly the expected ones: the same tests with the same
// statuses, as R2E-Gym's reward. A name ends before " - ".
func gradeExactly(expected map[string]relabel.TestStatus, outcomes testlog.Outcomes) relabel.Verdict {
	v := relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}}
	for _, name := range slices.Sorted(maps.Keys(outcomes)) {
		short, _, _ := strings.Cut(name, " - ")
		v.Tests[short] = outcomes[name]
	}
	for name := range expected {
		if _, ran := v.Tests[name]; !ran {
			v.Tests[name] = relabel.TestAbsent
		}
	}
	if !maps.Equal(v.Tests, expected) {
		v.Passed, v.Reason = false, relabel.VerdictTests
	}
	return v
}
