package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

// nodeMarks are the marks and words of runners on Node.js.
var nodeMarks = map[string]relabel.TestStatus{
	"✓": relabel.TestPassed, "✔": relabel.TestPassed, "✕": relabel.TestFailed, "✖": relabel.TestFailed, "✗": relabel.TestFailed,
	"×": relabel.TestFailed, "○": relabel.TestSkipped, "↓": relabel.TestSkipped,
	"PASS": relabel.TestPassed, "FAIL": relabel.TestFailed, "PASSED": relabel.TestPassed, "FAILED": relabel.TestFailed,
}

var (
	jestResult   = regexp.MustCompile(`^([✓✕○])\s+(\S.*?)(?:\s+\(\d+(?:\.\d+)?\s*m?s\))?$`)
	vitestResult = regexp.MustCompile(`^([✓×↓])\s(.+?)(?:\s+(?:\d+(?:\.\d+)?\s*m?s|\[skipped\]))?$`)
	vitestNumber = regexp.MustCompile(`^(.+)\s\d+$`)
)

// parseJest reads the verbose log of Jest: a mark, a test's name and its duration. It keeps the word
// "skipped" that Jest writes before the name of a skipped test, as data sets do.
func parseJest(log []byte) Outcomes { return markedLines(log, jestResult, nodeMarks) }

// parseVitest reads the verbose log of Vitest. A name that ends with a number is also known without
// it, as in data sets.
func parseVitest(log []byte) Outcomes {
	o := markedLines(log, vitestResult, nodeMarks)
	short := Outcomes{}
	for name, status := range o {
		if m := vitestNumber.FindStringSubmatch(name); m != nil {
			short.add(m[1], status)
		}
	}
	for name, status := range short {
		o.add(name, status)
	}
	return o
}

var jestLine = regexp.MustCompile(`^\[(PASSED|FAILED)\]\s(.+)$`)

// parseJestJSON reads lines that jq makes of Jest's JSON: the status in brackets and the titles.
func parseJestJSON(log []byte) Outcomes { return markedLines(log, jestLine, nodeMarks) }

var jestFile = regexp.MustCompile(`^(PASS|FAIL)\s(.*)`)

// jestTime is the duration after a file or test.
var jestTime = regexp.MustCompile(`^(.*)\s\([\d.]+(?:ms|\s?s)\)`)

// parseJestFiles reads the log of Jest that is not verbose: a test is a file.
func parseJestFiles(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		m := jestFile.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[2]
		if timed := jestTime.FindStringSubmatch(name); timed != nil {
			name = timed[1]
		}
		o.add(name, nodeMarks[m[1]])
	}
	return o
}

// jestFileTime is the duration of a file at the end of its line.
var jestFileTime = regexp.MustCompile(`\s\([\d.]+\s*\w+\)$`)

// parseJestTitles reads the verbose log of Jest. A test is a file, and a file and a title with a colon between them.
func parseJestTitles(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	file := ""
	for line := range logLines(log) {
		text := trim(line)
		if m := jestFile.FindStringSubmatch(text); m != nil {
			file = jestFileTime.ReplaceAllString(m[2], "")
			n.Outcomes.add(file, nodeMarks[m[1]])
		} else if m := jestResult.FindStringSubmatch(text); m != nil && file != "" {
			n.add([]string{file}, ":", m[2], nodeMarks[m[1]])
		}
	}
	return n.Outcomes
}

// The word may be on the line before the file.
var (
	grommetFile = regexp.MustCompile(`(?m)^(PASS|FAIL)\s(.*)`)
	grommetTime = regexp.MustCompile(`\s\([\d.]+\s?(?:ms|s)\)$`)
)

// parseGrommet reads the log of Jest with a file as a test too.
func parseGrommet(log []byte) Outcomes {
	o := Outcomes{}
	for _, m := range eachMatch(grommetFile, plainText(log)) {
		o.add(grommetTime.ReplaceAllString(trim(m[2]), ""), nodeMarks[m[1]])
	}
	return o
}

// calypsoCommand begins the logs of the calls of Jest, which the shell's trace shows.
const calypsoCommand = " ./node_modules/.bin/jest "

var calypsoTest = regexp.MustCompile(`^\s+([✓✕])\s(.*)$`)

// calypsoTime is what follows the name: a duration at the end of the line.
var calypsoTime = regexp.MustCompile(`\(\d+ms\)$`)

// parseCalypso reads the verbose logs of several calls of Jest, with the titles of groups in the
// names. Groups end with a call's list of failures or its summary.
func parseCalypso(log []byte) Outcomes {
	n := namer{Outcomes: Outcomes{}}
	var around groups
	for _, call := range afterEach(plainText(log), calypsoCommand) {
		for line := range strings.SplitSeq(call, "\n") {
			line = line[:min(len(line), maxLine)]
			if strings.HasPrefix(line, "Test Suites") || strings.HasPrefix(line, "  ● ") {
				break
			}
			if text := trim(line); !strings.HasPrefix(text, "✓") && !strings.HasPrefix(text, "✕") {
				if indent(line) > 0 {
					around.enter(line)
				}
				continue
			}
			if m := calypsoTest.FindStringSubmatch(line); m != nil {
				titles := around.titles
				if len(titles) == 0 {
					titles = []string{""}
				}
				name := n.name(titles, " - ", calypsoTime.ReplaceAllString(m[2], ""))
				n.Outcomes.add(trim(name), nodeMarks[m[1]])
			}
		}
	}
	return n.Outcomes
}
