package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

// addFailures records the tests that the last group of a pattern names as failed.
func (o Outcomes) addFailures(pattern *regexp.Regexp, text string, name func(string) string) {
	for _, m := range eachMatch(pattern, text) {
		if found := m[len(m)-1]; len(found) <= maxLine {
			o.add(name(found), relabel.TestFailed)
		}
	}
}

// asIs returns a name without a change: that of some data sets ends with a space.
func asIs(name string) string { return name }

// bpmnFailures are lines of Karma, with the sequence that clears a line of the terminal.
var bpmnFailures = []*regexp.Regexp{
	regexp.MustCompile(`2KPhantomJS\s[\d.]+\s\(Linux\s[\d.]+\)\s(.*)FAILED\n`),
	regexp.MustCompile(`2KPhantomJS\s[\d.]+\s\(Linux\sx86_64\)\s(.*)FAILED\n`),
	regexp.MustCompile(`Chrome\sHeadless\s.*\s\(Linux\sx86_64\)\s(.*)FAILED\n`),
	regexp.MustCompile(`HeadlessChrome\s[\d.]+\s\(Linux\s[\d.]+\)\s(.*)FAILED\n`),
}

// parseBPMN reads the log of Karma, which names only failed tests.
func parseBPMN(log []byte) Outcomes {
	o := Outcomes{}
	for _, pattern := range bpmnFailures {
		o.addFailures(pattern, rawText(log), asIs)
	}
	return o
}

var chartFailure = regexp.MustCompile(`(?m)Chrome\s[\d.]+[^\S\r\n]\(.+?\)[^\S\r\n](.*)FAILED$`)

// parseChart reads the log of Karma, which names only failed tests.
func parseChart(log []byte) Outcomes {
	o := Outcomes{}
	o.addFailures(chartFailure, plainText(log), asIs)
	return o
}

// openLayersFailures are lines of Karma, of Mocha and of a test of images.
var openLayersFailures = []*regexp.Regexp{
	regexp.MustCompile(`Chrome\sHeadless\s[\d.]+\s\(Linux\s\S+\)\s(.*)\sFAILED\n`),
	regexp.MustCompile(`Chrome\s[\d.]+\s\(Linux\s\S+\)\s(.*)FAILED\n`),
	regexp.MustCompile(`(?m)^\s{2}\d+\)([\s\S]*?)Error:`),
	regexp.MustCompile(`(?m)^case\s(.*):\smismatch`),
}

// parseOpenLayers reads the logs of Karma and Mocha, which name only failed tests.
func parseOpenLayers(log []byte) Outcomes {
	o := Outcomes{}
	for _, pattern := range openLayersFailures {
		o.addFailures(pattern, plainText(log), oneLine)
	}
	return o
}

var markedFailure = regexp.MustCompile(`^\d+\)\s(.*)`)

// parseMarked reads the log of Jasmine, which names only failed tests: a number and the titles.
func parseMarked(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := markedFailure.FindStringSubmatch(line); m != nil {
			o.add(trim(m[1]), relabel.TestFailed)
		}
	}
	return o
}

var karmaLine = regexp.MustCompile(`^(\s*)?([✔✖])?\s(.*)$`)

// parseKarma reads the log of Karma's reporter spec from the start of the browser to the summary:
// groups and tests, indented.
func parseKarma(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	var suite []string
	depth := -1
	started := false
	for line := range logLines(log) {
		switch {
		case strings.HasPrefix(line, "SUMMARY:"):
			return n.Outcomes
		case strings.Contains(line, "Starting browser"):
			started = true
			continue
		}
		m := karmaLine.FindStringSubmatch(line)
		if !started || m == nil {
			continue
		}
		space, mark, title := len([]rune(m[1])), m[2], m[3]
		if mark != "" {
			n.add(suite, " > ", title, nodeMarks[mark])
			continue
		}
		if space == 0 {
			continue
		}
		if space > depth {
			suite = append(suite[:len(suite):len(suite)], title)
		} else if space < depth && len(suite) > 0 {
			suite = suite[:len(suite)-1]
		}
		depth = space
	}
	return n.Outcomes
}

var (
	nextError  = regexp.MustCompile(`(?s)AssertionError:\s+#(.*?)\n\n`)
	nextTest   = regexp.MustCompile(`^.*?([✗✓])\s*(.*)`)
	nextNoise  = []string{"ERROR", "LOG", "WARN", "Check", "in"}
	nextSuites = regexp.MustCompile(`Running:(.*)\)\n{3}\s{2}(.*)\n`)
	nextV2Fail = regexp.MustCompile(`(?m)^\s{4}\d+\)\s(.*)`)
	nextV2Pass = regexp.MustCompile(`(?m)^\s{4}✓\s(.*)\(`)
)

// parseNextV1 reads the logs of several calls of Karma: groups and tests, indented.
func parseNextV1(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	var around groups
	text := nextError.ReplaceAllString(plainText(log), "")
	for _, call := range afterEach(text, " xvfb-run ") {
		call = call[strings.LastIndex(call, "Starting browser Chrome")+1:]
		for line := range strings.SplitSeq(call, "\n") {
			if strings.HasPrefix(line, "TOTAL") {
				break
			}
			n.addNext(&around, line[:min(len(line), maxLine)])
		}
	}
	return n.Outcomes
}

// addNext records the test on a line, or the group that it begins.
func (n *namer) addNext(around *groups, line string) {
	text := trim(line)
	for _, noise := range nextNoise {
		if strings.HasPrefix(text, noise) {
			return
		}
	}
	failed := strings.Contains(line, "✗")
	if m := nextTest.FindStringSubmatch(line); m != nil {
		mark, title := m[1], m[2]
		if failed && mark == "✓" { // a failure's mark counts, wherever it is
			_, title, _ = strings.Cut(line, "✗")
			title = strings.TrimLeftFunc(title, isSpace)
			mark = "✗"
		}
		n.add(around.titles, " - ", title, nodeMarks[mark])
	} else if indent(line) > 0 {
		around.enter(line)
	}
}

// parseNextV2 reads the logs of Cypress: a test file, its group, and tests with a mark or a number.
func parseNextV2(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	text := plainText(log)
	suites := nextSuites.FindAllStringSubmatchIndex(text, maxOutcomes)
	for i, at := range suites {
		end := len(text)
		if i+1 < len(suites) {
			end = suites[i+1][0]
		}
		suite := []string{text[at[4]:at[5]]}
		for _, m := range eachMatch(nextV2Fail, text[at[1]:end]) {
			n.add(suite, ": ", trim(m[1]), relabel.TestFailed)
		}
		for _, m := range eachMatch(nextV2Pass, text[at[1]:end]) {
			n.add(suite, ": ", trim(m[1]), relabel.TestPassed)
		}
	}
	return n.Outcomes
}
