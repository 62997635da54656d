package testlog

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
)

// rubyMarks are the letters of Ruby's runners.
var rubyMarks = map[string]relabel.TestStatus{
	".": relabel.TestPassed, "F": relabel.TestFailed, "E": relabel.TestFailed, "O": relabel.TestSkipped, "S": relabel.TestSkipped,
	"passed": relabel.TestPassed, "failed": relabel.TestFailed, "pending": relabel.TestSkipped,
}

var (
	shouldaResult  = regexp.MustCompile(`^(.+)\. .*=.*(\.|F|E).*$`)
	minitestResult = regexp.MustCompile(`^(\S+#.+?) = [\d.]+ s = ([.FES])$`)
)

// parseMinitest reads the verbose log of Minitest: CLASS#test = time = letter. A name that ends with
// a point and a space is also known without what follows them, as in data sets.
func parseMinitest(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		line = trim(line)
		if m := shouldaResult.FindStringSubmatch(line); m != nil {
			o.add(m[1], rubyMarks[m[2]])
		}
		if m := minitestResult.FindStringSubmatch(line); m != nil {
			o.add(m[1], rubyMarks[m[2]])
		}
	}
	return o
}

var rubyUnitResult = regexp.MustCompile(`^(?:test: )?(.+):\s+(\.|E\b|F\b|O\b)`)

// parseRubyUnit reads the verbose log of test-unit.
func parseRubyUnit(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := rubyUnitResult.FindStringSubmatch(trim(line)); m != nil {
			o.add(m[1], rubyMarks[m[2]])
		}
	}
	return o
}

var cucumberResult = regexp.MustCompile(`^(.*) \.+(\.|F)`)

// parseCucumber reads the log of Cucumber's format progress.
func parseCucumber(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := cucumberResult.FindStringSubmatch(trim(line)); m != nil {
			o.add(m[1], rubyMarks[m[2]])
		}
	}
	return o
}

var rspecLine = regexp.MustCompile(`^(.+) - (passed|failed)`)

// parseRSpecLines reads lines that jq makes of RSpec's JSON: the example and its status.
func parseRSpecLines(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := rspecLine.FindStringSubmatch(trim(line)); m != nil {
			o.add(m[1], rubyMarks[m[2]])
		}
	}
	return o
}

var (
	rspecMark = regexp.MustCompile(`^(.*?) \((FAILED - \d+|PENDING: .*)\)$`)
	rspecEnds = []string{"Failures:", "Pending:", "Finished in "}
)

// parseRSpec reads the log of RSpec's format documentation: groups and examples, indented, with a
// note after an example that did not pass; or of its format json. An example has two names: its
// title, and the titles of its groups and its own with a space between them.
func parseRSpec(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	if at := bytes.Index(log, []byte(`{"version":`)); at >= 0 {
		n.addExamples(log[at:])
		return n.Outcomes
	}
	var around groups
	previous := ""
	for line := range logLines(log) {
		if trim(line) == "" {
			continue
		}
		if previous != "" {
			n.addExample(&around, previous, indent(line) > indent(previous))
		}
		if previous = line; endsExamples(line) {
			break
		}
	}
	return n.Outcomes
}

// endsExamples reports whether a line begins what follows the examples.
func endsExamples(line string) bool {
	for _, end := range rspecEnds {
		if strings.HasPrefix(line, end) {
			return true
		}
	}
	return false
}

// addExample records the example on a line, unless lines of its group follow.
func (n *namer) addExample(around *groups, line string, group bool) {
	m := rspecMark.FindStringSubmatch(line)
	if group && m == nil {
		around.enter(line)
		return
	}
	title, status := line, relabel.TestPassed
	switch {
	case m != nil && strings.HasPrefix(m[2], "FAILED"):
		title, status = m[1], relabel.TestFailed
	case m != nil:
		title, status = m[1], relabel.TestSkipped
	}
	if indent(line) == 0 {
		return // an example has a group
	}
	around.leave(indent(line))
	title = trim(title)
	n.add(nil, "", title, status)
	n.add(around.titles, " ", title, status)
}

// addExamples records the examples of a report in JSON.
func (n *namer) addExamples(text []byte) {
	var report struct {
		Examples []struct {
			Description     string `json:"description"`
			FullDescription string `json:"full_description"`
			Status          string `json:"status"`
		}
	}
	if json.NewDecoder(bytes.NewReader(text)).Decode(&report) != nil {
		return
	}
	for _, e := range report.Examples {
		n.add(nil, "", e.Description, rubyMarks[e.Status])
		n.add(nil, "", e.FullDescription, rubyMarks[e.Status])
	}
}
