package verify

import (
	"sort"
	"strings"

	"relabel"
)

// outcomes says how each test of a log ended.
type outcomes map[string]relabel.TestStatus

// parser reads the log of a test command. It takes any bytes.
type parser func(log []byte) outcomes

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

func withLongNames(short map[string]parser) map[string]parser {
	all := map[string]parser{}
	for name, p := range short {
		all[name], all["parse_log_"+name] = p, p
	}
	return all
}

// shortParser is the name of a parser without the prefix that some data sets write.
func shortParser(name string) string { return strings.TrimPrefix(name, "parse_log_") }

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
func (o outcomes) add(id string, status relabel.TestStatus) {
	before, there := o[id]
	if id != "" && severity[status] > severity[before] && (there || len(o) < maxOutcomes) {
		o[id] = status
	}
}

// of returns the status of a test that a task names, or TestAbsent. Some data sets cut
// parametrised ids short; such an id stands for every test that starts like it, where
// these agree on whether they passed, as in swebench 5.0.2 (grading._resolve_case). Where
// they do not it names no test.
func (o outcomes) of(id string) relabel.TestStatus {
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
