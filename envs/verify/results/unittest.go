package results

import (
	"regexp"
	"strings"

	"relabel"
)

var (
	// UnittestID matches a test id of unittest: its groups are method and class.
	UnittestID      = regexp.MustCompile(`^(\w+) \(([\w.<>]+)\)`)
	unittestHeading = regexp.MustCompile(`^(FAIL|ERROR): (\w+ \([\w.<>]+\))`)
	unittestSkipped = regexp.MustCompile(`skipped ['"].*['"]$`)
)

// parseUnittest reads the verbose log of unittest, and of Django's runner: an id, " ... "
// and how it ended. A test with a docstring has its first line between the two; then
// both the id and that line name the test. What a test prints may separate the end
// from its id. Each test is also known as module.Class.test.
func parseUnittest(log []byte) Outcomes {
	o := Outcomes{}
	previous := ""       // the last line: an id, if the next is its docstring
	var waiting []string // the names of a test whose end has not come yet
	for line := range logLines(log) {
		if m := unittestHeading.FindStringSubmatch(line); m != nil {
			o.addAll([]string{m[2]}, headingStatus[m[1]])
		}
		if name, rest, ok := strings.Cut(line, " ... "); ok {
			name = withoutMigration(strings.TrimSpace(name))
			waiting = []string{name}
			if UnittestID.MatchString(previous) && !UnittestID.MatchString(name) {
				waiting = append(waiting, previous)
			}
			if status := unittestEnd(rest); status != "" {
				o.addAll(waiting, status)
				waiting = nil
			}
		} else if status := unittestEnd(line); status != "" && waiting != nil {
			o.addAll(waiting, status)
			waiting = nil
		}
		previous = line
	}
	return o
}

// withoutMigration cuts off what Django's migrations printed on the line of a test's id:
// "Applying sites.0002_alter_domain_unique...test_no_migrations (…)".
func withoutMigration(name string) string {
	migration, id, ok := strings.Cut(name, "...")
	if ok && id != "" && strings.HasPrefix(migration, "Applying ") {
		return id
	}
	return name
}

var headingStatus = map[string]relabel.TestStatus{"FAIL": relabel.TestFailed, "ERROR": relabel.TestError}

// unittestEnd reads how a test ended, or returns "".
func unittestEnd(s string) relabel.TestStatus {
	s = strings.TrimSpace(s)
	switch s {
	case "ok", "OK":
		return relabel.TestPassed
	case "FAIL":
		return relabel.TestFailed
	case "ERROR":
		return relabel.TestError
	case "expected failure":
		return relabel.TestXFail
	case "unexpected success":
		return relabel.TestXPass
	}
	if unittestSkipped.MatchString(s) {
		return relabel.TestSkipped
	}
	return ""
}

// addAll notes an outcome under each name, and under the other forms of an id.
func (o Outcomes) addAll(names []string, status relabel.TestStatus) {
	for _, name := range names {
		o.add(name, status)
		m := UnittestID.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		class := strings.TrimSuffix(m[2], "."+m[1]) // Python 3.11 writes the method in here too
		o.add(m[0], status)
		o.add(m[1]+" ("+class+")", status)
		o.add(class+"."+m[1], status)
	}
}
