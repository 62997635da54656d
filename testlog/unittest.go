package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

var (
	// UnittestID matches a test id of unittest. Its groups are method and class.
	UnittestID      = regexp.MustCompile(`^(\w+) \(([\w.<>]+)\)`)
	unittestHeading = regexp.MustCompile(`^(FAIL|ERROR): (\w+ \([\w.<>]+\))`)
	unittestSkipped = regexp.MustCompile(`skipped ['"].*['"]$`)
)

// parseUnittest reads the verbose log of unittest and of Django's runner: an id, " ... " and the
// status. The first line of a docstring may be on a line between the two; then both the id and
// that line name the test. Output of the test may separate the id from the status. Each test is
// also known as module.Class.test.
func parseUnittest(log []byte) Outcomes {
	o := Outcomes{}
	previous := ""       // the last line without a status: an id, if the next line is its docstring
	var waiting []string // the names of a test whose status is still missing
	for line := range logLines(log) {
		if m := unittestHeading.FindStringSubmatch(line); m != nil {
			o.addAll([]string{m[2]}, unittestWords[m[1]])
		}
		name, rest, attached := strings.Cut(line, " ... ")
		if attached {
			name = withoutMigration(strings.TrimSpace(name))
			waiting = []string{name}
			if UnittestID.MatchString(previous) && !UnittestID.MatchString(name) {
				waiting = append(waiting, previous)
			}
			previous, line = line, rest
		} else {
			previous = line
		}
		status := unittestEnd(line)
		if status == "" && attached && strings.HasPrefix(line, "skipped") { // nose2 quotes no reason
			status = relabel.TestSkipped
		}
		if status != "" {
			o.addAll(waiting, status)
			previous, waiting = "", nil
		} else if at := strings.LastIndex(line, " ... "); at >= 0 && len(waiting) > 0 {
			// A docstring may contain the dots too.
			o.addAll([]string{waiting[0] + " ... " + line[:at]}, unittestEnd(line[at+len(" ... "):]))
		}
	}
	return o
}

// withoutMigration removes output of Django's migrations before a test's id:
// "Applying sites.0002_alter_domain_unique...test_no_migrations (…)".
func withoutMigration(name string) string {
	migration, id, ok := strings.Cut(name, "...")
	if ok && id != "" && strings.HasPrefix(migration, "Applying ") {
		return id
	}
	return name
}

var unittestWords = map[string]relabel.TestStatus{
	"ok": relabel.TestPassed, "OK": relabel.TestPassed, "FAIL": relabel.TestFailed, "ERROR": relabel.TestError,
	"expected failure": relabel.TestXFail, "unexpected success": relabel.TestXPass,
}

// unittestEnd returns the status that a text is; "" if it is none.
func unittestEnd(s string) relabel.TestStatus {
	s = strings.TrimSpace(s)
	if unittestSkipped.MatchString(s) {
		return relabel.TestSkipped
	}
	return unittestWords[s]
}

// addAll records an outcome under each name and under the other forms of an id.
func (o Outcomes) addAll(names []string, status relabel.TestStatus) {
	for _, name := range names {
		o.add(name, status)
		m := UnittestID.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		class := strings.TrimSuffix(m[2], "."+m[1]) // Python 3.11 includes the method
		o.add(m[0], status)
		o.add(m[1]+" ("+class+")", status)
		o.add(class+"."+m[1], status)
	}
}
