package testlog

import (
	"encoding/json"
	"regexp"
	"strings"

	"relabel"
)

var (
	mochaTest  = regexp.MustCompile(`^(?:([✓✔])\s|(\d+)\)\s|(-)\s)(.*?)(?:\s\(\d+m?s\))?$`)
	mochaTotal = regexp.MustCompile(`^\d+ passing\b`)
	mochaTime  = regexp.MustCompile(`\(\d+ms\)`)
)

// parseMocha reads the log of Mocha's reporter spec: groups and tests, indented. A test has two
// names: its title, and the titles of its groups and its own with " > " between them. What
// follows the total is not read.
func parseMocha(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	var around groups
	for line := range logLines(log) {
		text := trim(line)
		m := mochaTest.FindStringSubmatch(text)
		switch {
		case mochaTotal.MatchString(text):
			return n.Outcomes
		case m == nil && indent(line) > 0:
			around.enter(line)
			continue
		case m == nil:
			continue
		}
		status := relabel.TestFailed
		if m[1] != "" {
			status = relabel.TestPassed
		} else if m[3] != "" {
			status = relabel.TestSkipped
		}
		n.add(nil, "", m[4], status)
		n.add(around.titles, " > ", m[4], status)
	}
	return n.Outcomes
}

// mochaReport is what Mocha's reporter json writes.
type mochaReport struct {
	Failures, Passes, Pending []struct{ FullTitle string }
}

// addTo records the tests of a report.
func (r mochaReport) addTo(o Outcomes) {
	for _, test := range r.Failures {
		o.add(test.FullTitle, relabel.TestFailed)
	}
	for _, test := range r.Passes {
		o.add(test.FullTitle, relabel.TestPassed)
	}
}

// addReport records the tests of the JSON between the first and the last brace of a text.
func addReport(o Outcomes, text string) {
	first := strings.IndexByte(text, '{')
	last := strings.LastIndexByte(text, '}')
	var report mochaReport
	if first < 0 || last < first || json.Unmarshal([]byte(text[first:last+1]), &report) != nil {
		return
	}
	report.addTo(o)
}

// parseMochaJSON reads the log of Mocha's reporter json.
func parseMochaJSON(log []byte) Outcomes {
	o := Outcomes{}
	addReport(o, plainText(log))
	return o
}

// prismCommand begins the logs of Mocha's calls, which the shell's trace shows.
const prismCommand = "./node_modules/.bin/mocha tests/run.js --reporter json"

// parsePrism reads the logs of several calls of Mocha with its reporter json.
func parsePrism(log []byte) Outcomes {
	o := Outcomes{}
	for _, call := range afterEach(plainText(log), prismCommand) {
		addReport(o, call)
	}
	return o
}

// parseHighlight reads the log of Mocha's reporter spec up to its total. The name of a test is the
// line of the group before it and its title, with a dot between them.
func parseHighlight(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	var group []string
	first := true
	for line := range logLines(log) {
		text := trim(line)
		if mochaTotal.MatchString(strings.TrimLeft(line, " \t")) && !first {
			break
		}
		first = false
		title, status := highlightTest(line, text)
		switch {
		case status != "":
			n.add(group, ".", trim(mochaTime.ReplaceAllString(title, "")), status)
		case strings.HasPrefix(line, "  "):
			group = []string{text}
		}
	}
	return n.Outcomes
}

// numbered matches a number and a parenthesis, which begin a failed test.
var numbered = regexp.MustCompile(`^\d+\)`)

// highlightTest returns the title and the status of the test on a line; "" without one.
func highlightTest(line, text string) (title string, status relabel.TestStatus) {
	switch {
	case strings.HasPrefix(text, "✓"), strings.HasPrefix(text, "✔"):
		mark := "✓"
		if strings.HasPrefix(text, "✔") {
			mark = "✔"
		}
		_, title, _ = strings.Cut(line, mark)
		return title, relabel.TestPassed
	case numbered.MatchString(text):
		_, title, _ = strings.Cut(line, ")")
		return title, relabel.TestFailed
	}
	return "", ""
}

var (
	lighthouseStart = regexp.MustCompile(`running\s\d+\stest\sfiles`)
	lighthouseTotal = regexp.MustCompile(`\d+\spassing`)
	lighthouseTest  = regexp.MustCompile(`^(?:(✔)|\d+\))\s(.*)$`)
	lighthouseTime  = regexp.MustCompile(`^(.*)\s\(\d+m+s\)`)
)

// parseLighthouseMocha reads the logs of several runs of Mocha, each from its announcement to its
// total.
func parseLighthouseMocha(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	for _, run := range afterEachMatch(lighthouseStart, plainText(log)) {
		if at := lighthouseTotal.FindStringIndex(run); at != nil {
			run = run[:at[0]]
		}
		var around groups
		for line := range strings.SplitSeq(trim(run), "\n") {
			line = line[:min(len(line), maxLine)]
			m := lighthouseTest.FindStringSubmatch(trim(line))
			if m == nil {
				if indent(line) > 0 {
					around.enter(line)
				}
				continue
			}
			title, status := m[2], relabel.TestFailed
			if m[1] != "" {
				status = relabel.TestPassed
			}
			if timed := lighthouseTime.FindStringSubmatch(title); timed != nil {
				title = timed[1]
			}
			n.add(around.titles, " - ", title, status)
		}
	}
	return n.Outcomes
}

// lighthouseCommand begins the logs of Mocha's calls, which the shell's trace shows.
const lighthouseCommand = "./node_modules/.bin/mocha --reporter json"

var fullTitle = regexp.MustCompile(`"fullTitle":\s"(.*)",\n`)

// parseLighthouseJSON reads the logs of several calls of Mocha with its reporter json, line by line:
// titles keep the escapes of JSON.
func parseLighthouseJSON(log []byte) Outcomes {
	o := Outcomes{}
	for _, call := range afterEach(plainText(log), lighthouseCommand) {
		passes := call[strings.LastIndex(call, `"passes": [`)+1:]
		if at := strings.LastIndex(passes, "]"); at >= 0 {
			passes = passes[:at]
		}
		for _, m := range eachMatch(fullTitle, passes) {
			o.add(m[1], relabel.TestPassed)
		}
		failures := call[strings.LastIndex(call, `"failures": [`)+1:]
		if at := strings.LastIndex(failures, "],"); at >= 0 {
			failures = failures[:at]
		}
		for _, m := range eachMatch(fullTitle, failures) {
			o.add(m[1], relabel.TestFailed)
		}
	}
	return o
}

var eslintFailure = regexp.MustCompile(`\s{2}\d+\)([\s\S]*?)\s+.*Error`)

// parseESLint reads the log of Mocha's reporter min, which names only failed tests: a number, the
// titles and the error.
func parseESLint(log []byte) Outcomes {
	o := Outcomes{}
	for _, m := range eachMatch(eslintFailure, plainText(log)) {
		if len(m[1]) <= maxLine {
			o.add(oneLine(m[1]), relabel.TestFailed)
		}
	}
	return o
}
