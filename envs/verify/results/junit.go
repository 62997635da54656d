package results

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"unicode"

	"relabel/testlog"
)

// ParseRunnerReport reads the report of a runner: RSpec's JSON, and JUnit XML of the others, which
// may be several documents one after another. A report that is broken or beyond the bounds confirms
// nothing.
func ParseRunnerReport(data []byte, runner testlog.Runner) *NamedReport {
	r := &NamedReport{Clean: map[string]bool{}, Stained: map[string]bool{}, name: NodeName}
	switch runner {
	case testlog.PHPUnit:
		r.name = testdoxName
	case testlog.GTest:
		r.name = googleName
	}
	var err error
	switch runner {
	case testlog.RSpec:
		err = r.readRSpec(data)
	default:
		err = readCases(data, func(c testCase) { r.add(c.status(), caseNames(runner, c)...) })
	}
	if err != nil {
		return &NamedReport{}
	}
	maps.DeleteFunc(r.Clean, func(name string, _ bool) bool { return r.Stained[name] })
	return r
}

// status is how the test ended, in the words of Jest.
func (c testCase) status() string {
	switch {
	case c.failed:
		return "failed"
	case c.stained:
		return "pending"
	}
	return "passed"
}

// caseNames are the names of a test in the logs of its runner.
func caseNames(runner testlog.Runner, c testCase) []string {
	switch runner {
	case testlog.Maven:
		method, _, _ := strings.Cut(strings.TrimSuffix(c.name, "()"), "(")
		short := c.class[strings.LastIndexByte(c.class, '.')+1:]
		return []string{c.class, short, c.class + "." + method, c.class + "#" + method, short + "#" + method}
	case testlog.Gradle:
		return []string{c.class + " > " + c.name}
	case testlog.GTest:
		return []string{c.class + "." + c.name}
	}
	return []string{c.name}
}

// testdoxName returns the same name for a test in the words of PHPUnit's testdox, "Calc > Adds big
// numbers", and for its method, testAddsBigNumbers. It omits the class, which the log of a class
// without a namespace does not name, so a test passed if it did in each class.
func testdoxName(name string) string {
	name = name[strings.LastIndex(name, " > ")+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	return strings.TrimPrefix(name, "test")
}

// googleName returns the name of a test without the parameter that the log of a failure shows.
func googleName(name string) string {
	name, _, _ = strings.Cut(name, ", where ")
	return NodeName(name)
}

// readRSpec reads RSpec's JSON.
func (r *NamedReport) readRSpec(data []byte) error {
	var report struct {
		Examples []struct {
			Description     string `json:"description"`
			FullDescription string `json:"full_description"`
			Status          string `json:"status"`
		}
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&report); err != nil {
		return err
	}
	if len(report.Examples) > maxReportCases {
		return errReportBounds
	}
	for _, e := range report.Examples {
		r.add(e.Status, e.Description, e.FullDescription)
	}
	return nil
}
