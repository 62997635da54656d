package testlog

import (
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
)

var (
	goResult  = regexp.MustCompile(`--- (PASS|FAIL|SKIP): (\S+) \(.+\)$`)
	goPackage = regexp.MustCompile(`^(?:ok|FAIL|---)\s+(\S+)\s+(?:[0-9.]+s|\(cached\))`)
	goWords   = map[string]relabel.TestStatus{"PASS": relabel.TestPassed, "FAIL": relabel.TestFailed, "SKIP": relabel.TestSkipped}
)

// parseGoTest reads the log of go test -v. A test has two names: TestA/sub and PACKAGE:TestA/sub.
// If several packages have a test of the plain name, the worst outcome counts for it.
func parseGoTest(log []byte) Outcomes {
	o, ofPackage := Outcomes{}, Outcomes{}
	for line := range logLines(log) {
		line = trimRight(line)
		if m := goResult.FindStringSubmatch(line); m != nil {
			o.add(m[2], goWords[m[1]])
			ofPackage.add(m[2], goWords[m[1]])
		} else if m := goPackage.FindStringSubmatch(line); m != nil && len(m[1]) <= maxImportPath {
			for test, status := range ofPackage {
				o.add(m[1]+":"+test, status)
			}
			ofPackage = Outcomes{}
		}
	}
	return o
}

// parseGoJSON reads the log of go test -json: an event on each line. Names are those of
// parseGoTest.
func parseGoJSON(log []byte) Outcomes {
	o := Outcomes{}
	for line := range rawLines(log) {
		var event struct{ Action, Package, Test string }
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &event) != nil || event.Test == "" {
			continue
		}
		status := goWords[strings.ToUpper(event.Action)]
		o.add(event.Test, status)
		if len(event.Package) <= maxImportPath {
			o.add(event.Package+":"+event.Test, status)
		}
	}
	return o
}
