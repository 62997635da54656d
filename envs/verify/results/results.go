// Package results reads the reports of test runners, and grades the tests of a task.
package results

import (
	"slices"

	"relabel"
	"relabel/testlog"
)

// Grade returns a verdict that passes if every test of FAIL_TO_PASS passed, as PASSED or XFAIL,
// and every test of PASS_TO_PASS passed or was skipped, as in swebench 5.0.2
// (grading.test_maintained). An absent test has not passed.
func Grade(task relabel.Task, outcomes testlog.Outcomes) relabel.Verdict {
	if task.Expected != nil {
		return gradeExactly(task.Expected, outcomes)
	}
	v := relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}}
	for _, id := range slices.Concat(task.FailToPass, task.PassToPass) {
		status := outcomes.Of(id)
		v.Tests[id] = status
		if !task.Satisfied(id, status) {
			v.Passed, v.Reason = false, relabel.VerdictTests
		}
	}
	return v
}
