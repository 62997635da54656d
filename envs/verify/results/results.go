// Package results reads the logs and reports of test runners, and what they say of the tests of a
// task.
package results

import (
	"sort"
	"strings"

	"relabel"
)

// Outcomes says how each test of a log ended.
type Outcomes map[string]relabel.TestStatus

// parser reads the log of a test command. It takes any bytes.
type parser func(log []byte) Outcomes

// parsers are the log parsers by name. A name may also be written parse_log_NAME, as
// some data sets do.
var parsers = withLongNames(map[string]parser{
	"pytest":         parsePytest,
	"pytest_v2":      parsePytestV2,
	"pytest_options": parsePytestOptions,
	"matplotlib":     parseMatplotlib,
	"unittest":       parseUnittest,
	"django":         parseUnittest,
	"sympy":          parseSympy,
	"gotest":         parseGoTest,
	"jest":           parseJest,
	"vitest":         parseJest,
})

// ParserOf returns the parser of a name.
func ParserOf(name string) (p parser, known bool) {
	p, known = parsers[name]
	return p, known
}

func withLongNames(short map[string]parser) map[string]parser {
	all := map[string]parser{}
	for name, p := range short {
		all[name], all["parse_log_"+name] = p, p
	}
	return all
}

// Parsers lists the names that Task.LogParser may have, besides "".
func Parsers() []string {
	var names []string
	for name := range parsers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// severity orders statuses by how bad they are.
var severity = map[relabel.TestStatus]int{
	relabel.TestPassed: 1, relabel.TestXFail: 2, relabel.TestXPass: 3,
	relabel.TestSkipped: 4, relabel.TestFailed: 5, relabel.TestError: 6,
}

// add notes an outcome. Of several outcomes of one test the worst counts: a line that
// says PASSED takes nothing back. Of more than maxOutcomes tests the later ones are not noted.
func (o Outcomes) add(id string, status relabel.TestStatus) {
	before, there := o[id]
	if id != "" && severity[status] > severity[before] && (there || len(o) < maxOutcomes) {
		o[id] = status
	}
}

// Of returns the status of a test that a task names, or TestAbsent. Some data sets cut
// parametrised ids short; such an id stands for every test that starts like it, where
// these agree on whether they passed, as in swebench 5.0.2 (grading._resolve_case). Where
// they do not it names no test.
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

// statuses are the words of pytest, and of logs like it.
var statuses = map[string]relabel.TestStatus{
	"PASSED": relabel.TestPassed, "FAILED": relabel.TestFailed, "ERROR": relabel.TestError,
	"SKIPPED": relabel.TestSkipped, "XFAIL": relabel.TestXFail, "XPASS": relabel.TestXPass,
}

// Ending returns the status of the test whose id is name or ends with it. Of several the
// worst counts.
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

// Grade compares what the tests gave with what the task asks: passed means that every
// test of FAIL_TO_PASS passed, as PASSED or XFAIL, and every test of PASS_TO_PASS passed or
// was skipped: a skipped test is no regression, as in swebench 5.0.2
// (grading.test_maintained). A test that is absent has not passed.
func Grade(task relabel.Task, outcomes Outcomes) relabel.Verdict {
	v := relabel.Verdict{Passed: true, Reason: relabel.VerdictTestsPassed, Tests: map[string]relabel.TestStatus{}}
	for i, list := range [][]string{task.FailToPass, task.PassToPass} {
		toPass := i == 0
		for _, id := range list {
			status := outcomes.Of(id)
			v.Tests[id] = status
			maintained := !toPass && status == relabel.TestSkipped
			if !status.Passed() && !maintained {
				v.Passed, v.Reason = false, relabel.VerdictTests
			}
		}
	}
	return v
}
