package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

var (
	cargoResult = regexp.MustCompile(`^test\s+(\S.*?)\s+\.\.\.\s+(ok|FAILED)$`)
	cargoWords  = map[string]relabel.TestStatus{"ok": relabel.TestPassed, "FAILED": relabel.TestFailed}
)

// parseCargo reads the log of cargo test. A test that must panic is also known without the note
// about that, as in the reports of other runners.
func parseCargo(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		m := cargoResult.FindStringSubmatch(trim(line))
		if m == nil {
			continue
		}
		o.add(m[1], cargoWords[m[2]])
		if test, ok := strings.CutSuffix(m[1], " - should panic"); ok {
			o.add(test, cargoWords[m[2]])
		}
	}
	return o
}

// nextestResult matches a line such as "PASS [   0.004s] (1/2) crate::binary module::test", with
// "TRY 1 FAIL" for one of several tries. The words after the time are the binary and the test.
var (
	nextestResult = regexp.MustCompile(`^(?:TRY \d+ )?(PASS|FAIL|LEAK|FLAKY|ABORT|SIGABRT|SIGSEGV|TIMEOUT|SKIP)(?: \d+/\d+)? \[\s*>?\s*[\d.]+s\] (?:\(\s*\d+/\d+\)\s+)?(\S+) (\S.*)$`)
	nextestWords  = map[string]relabel.TestStatus{
		"PASS": relabel.TestPassed, "LEAK": relabel.TestPassed, "FAIL": relabel.TestFailed, "FLAKY": relabel.TestPassed,
		"ABORT": relabel.TestError, "SIGABRT": relabel.TestError, "SIGSEGV": relabel.TestError, "TIMEOUT": relabel.TestError,
		"SKIP": relabel.TestSkipped,
	}
)

// parseNextest reads the log of cargo nextest run. A test has two names: module::test and
// BINARY module::test.
func parseNextest(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := nextestResult.FindStringSubmatch(trim(line)); m != nil {
			o.add(m[3], nextestWords[m[1]])
			o.add(m[2]+" "+m[3], nextestWords[m[1]])
		}
	}
	return o
}
