package testlog

import (
	"regexp"

	"relabel"
)

var (
	testdoxSuite = regexp.MustCompile(`^([\pL\pN_].+) \(.+\)$`)
	testdoxTest  = regexp.MustCompile(`^\s*([✔✘↩])\s*(.*)$`)
	testdoxMarks = map[string]relabel.TestStatus{"✔": relabel.TestPassed, "✘": relabel.TestFailed, "↩": relabel.TestSkipped}
)

// parsePHPUnit reads the log of PHPUnit with --testdox: a class, and its tests with a mark each. A
// test without a class belongs to "None", as in data sets.
func parsePHPUnit(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	suite := []string{"None"}
	for line := range logLines(log) {
		if m := testdoxSuite.FindStringSubmatch(line); m != nil {
			suite = []string{m[1]}
		} else if m := testdoxTest.FindStringSubmatch(line); m != nil {
			n.add(suite, " > ", m[2], testdoxMarks[m[1]])
		}
	}
	return n.Outcomes
}
