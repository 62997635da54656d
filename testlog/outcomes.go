package testlog

import (
	"strings"

	"relabel"
)

// Outcomes maps the tests of a log to their status.
type Outcomes map[string]relabel.TestStatus

// severity orders statuses by how bad they are.
var severity = map[relabel.TestStatus]int{
	relabel.TestPassed: 1, relabel.TestXFail: 2, relabel.TestXPass: 3,
	relabel.TestSkipped: 4, relabel.TestFailed: 5, relabel.TestError: 6,
}

// add records an outcome. The worst outcome of a test counts, so a later PASSED changes nothing.
// Tests beyond maxOutcomes are not recorded.
func (o Outcomes) add(id string, status relabel.TestStatus) {
	before, there := o[id]
	if id != "" && severity[status] > severity[before] && (there || len(o) < maxOutcomes) {
		o[id] = status
	}
}

// Of returns the status of a test that a task names, or TestAbsent. Some data sets truncate
// parametrised ids. A truncated id stands for all tests with this prefix if all of them passed or
// none did, as in swebench 5.0.2 (grading._resolve_case); otherwise it is absent.
func (o Outcomes) Of(id string) relabel.TestStatus {
	if status, there := o[id]; there {
		return status
	}
	if strings.Count(id, "[") <= strings.Count(id, "]") {
		return relabel.TestAbsent
	}
	worst := relabel.TestAbsent
	passed, failed := false, false
	for full, status := range o {
		if !strings.HasPrefix(full, id) {
			continue
		}
		passed = passed || status.Passed()
		failed = failed || !status.Passed()
		if severity[status] > severity[worst] {
			worst = status
		}
	}
	if passed && failed {
		return relabel.TestAbsent
	}
	return worst
}

// statuses are the words of pytest and similar logs.
var statuses = map[string]relabel.TestStatus{
	"PASSED": relabel.TestPassed, "FAILED": relabel.TestFailed, "ERROR": relabel.TestError,
	"SKIPPED": relabel.TestSkipped, "XFAIL": relabel.TestXFail, "XPASS": relabel.TestXPass,
}

// Ending returns the worst status of the tests whose id is name or ends with it.
func (o Outcomes) Ending(name string) relabel.TestStatus {
	worst := relabel.TestAbsent
	for id, status := range o {
		before, ok := strings.CutSuffix(id, name)
		if !ok || (before != "" && !strings.ContainsAny(before[len(before)-1:], `/.:( \`)) {
			continue
		}
		if severity[status] > severity[worst] {
			worst = status
		}
	}
	return worst
}
