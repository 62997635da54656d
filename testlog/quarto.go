package testlog

import (
	"regexp"
	"strconv"
	"strings"

	"relabel"
)

var (
	quartoTest  = regexp.MustCompile(`\[(?:smoke|unit)\]`)
	quartoFiles = []*regexp.Regexp{regexp.MustCompile(`/tmp/[\pL\pN_]+\.qmd`), regexp.MustCompile(`/tmp/[\pL\pN_]+/`)}
)

// parseQuarto reads the log of Deno's tests up to the list of failures: a name, three dots, and ok
// or FAILED in colour. A test without either has failed. Random names of files become numbers, in
// the order in which they occur.
func parseQuarto(log []byte) Outcomes {
	o := Outcomes{}
	numbers := map[string]int{}
	for line := range rawLines(log) {
		if strings.Contains(line, "ERRORS") || strings.Contains(line, "failures:") {
			break
		}
		if !quartoTest.MatchString(line) {
			continue
		}
		line = numberFiles(line, numbers)
		name, _, _ := strings.Cut(line, "...")
		if name = trim(name); !quartoTotal(line) {
			o.add(name, quartoStatus(line, o[name]))
		}
	}
	return o
}

// numberFiles replaces temporary files of a line by numbers.
func numberFiles(line string, numbers map[string]int) string {
	for _, pattern := range quartoFiles {
		file := pattern.FindString(line)
		if file == "" {
			continue
		}
		if _, known := numbers[file]; !known && len(numbers) < maxOutcomes {
			numbers[file] = len(numbers)
		}
		line = pattern.ReplaceAllLiteralString(line, "/tmp/"+strconv.Itoa(numbers[file]))
	}
	return line
}

// quartoTotal reports whether a line is a total or a message, not a test.
func quartoTotal(line string) bool {
	return strings.HasPrefix(line, "test result:") || strings.Contains(line, "34mINFO") ||
		strings.Contains(line, "passed") && strings.Contains(line, "failed") && strings.Contains(line, "steps")
}

// quartoStatus is the status on a line; before is what earlier lines said of the test.
func quartoStatus(line string, before relabel.TestStatus) relabel.TestStatus {
	switch {
	case strings.Contains(line, "32mok"):
		return relabel.TestPassed
	case strings.Contains(line, "31mFAILED"), before == "":
		return relabel.TestFailed
	}
	return before
}
