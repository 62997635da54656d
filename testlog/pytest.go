package testlog

import (
	"iter"
	"regexp"
	"strings"

	"relabel"
)

var (
	summaryHeader = regexp.MustCompile(`^=+ short test summary info =+$`)
	sectionHeader = regexp.MustCompile(`^=+ .* =+$`)
	statusLast    = regexp.MustCompile(`^(\S+?::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[\s*\d+%\])?$`)
	statusXdist   = regexp.MustCompile(`^\[gw\d+\](?:\s+\[\s*\d+%\])? (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*)$`)
	subtestFailed = regexp.MustCompile(`^(?:\S.*, )?SUBFAIL(?:ED)?\b.*?(\S+::\S+)`)
)

// parsePytest reads what pytest -rA writes under "short test summary info": a status and a test
// id, and after " - " a message. Without that heading it reads every line. The summary lists
// skipped tests by file and line, without ids, so they count as absent.
func parsePytest(log []byte) Outcomes {
	o := Outcomes{}
	for line := range summaryLines(log) {
		word, rest, _ := strings.Cut(line, " ")
		if m := subtestFailed.FindStringSubmatch(line); m != nil {
			o.add(m[1], relabel.TestFailed)
			continue
		}
		status, ok := statuses[word]
		rest = strings.TrimSpace(rest)
		if !ok || rest == "" || (status == relabel.TestSkipped && rest[0] == '[') {
			continue
		}
		o.add(withoutMessage(status, rest), status)
	}
	return o
}

// summaryLines yields the lines of every summary, or all lines if there is none.
func summaryLines(log []byte) iter.Seq[string] {
	all := logLines(log)
	hasSummary := false
	for line := range all {
		if hasSummary = summaryHeader.MatchString(line); hasSummary {
			break
		}
	}
	if !hasSummary {
		return all
	}
	return func(yield func(string) bool) {
		inside := false
		for line := range all {
			switch {
			case summaryHeader.MatchString(line):
				inside = true
			case inside && sectionHeader.MatchString(line):
				inside = false
			case inside && !yield(line):
				return
			}
		}
	}
}

// withoutMessage removes the message after an id. The brackets of a parametrised id may contain
// the separator too. PASSED lines have no message.
func withoutMessage(status relabel.TestStatus, rest string) string {
	const separator = " - "
	if status == relabel.TestPassed {
		return rest
	}
	for at := 0; ; {
		n := strings.Index(rest[at:], separator)
		if n < 0 {
			break
		}
		at += n
		if id := rest[:at]; !strings.Contains(id, "[") || strings.HasSuffix(id, "]") {
			return id
		}
		at += len(separator)
	}
	if strings.HasSuffix(rest, "]") {
		return rest
	}
	id, _, _ := strings.Cut(rest, separator)
	if status == relabel.TestXPass && !strings.Contains(id, "[") {
		id, _, _ = strings.Cut(id, " ") // before pytest 8 the reason followed a space
	}
	return id
}

// parsePytestV2 also reads the lines of pytest -v, with the status after the id, and those of
// pytest-xdist.
func parsePytestV2(log []byte) Outcomes {
	o := parsePytest(log)
	for line := range logLines(log) {
		if m := statusLast.FindStringSubmatch(line); m != nil {
			o.add(m[1], statuses[m[2]])
		} else if m := statusXdist.FindStringSubmatch(line); m != nil {
			o.add(strings.TrimSpace(m[2]), statuses[m[1]])
		}
	}
	return o
}

// parsePytestOptions shortens a parameter that is an absolute path to its last part, as data sets
// do.
func parsePytestOptions(log []byte) Outcomes {
	o := Outcomes{}
	for id, status := range parsePytest(log) {
		o.add(shortOption(id), status)
	}
	return o
}

// MouseButtons replaces names in the ids of Matplotlib's mouse tests by numbers, as data sets do:
// the names depend on the version of Python.
var MouseButtons = strings.NewReplacer("MouseButton.LEFT", "1", "MouseButton.RIGHT", "3")

// parseMatplotlib reads pytest's log with mouse buttons as numbers.
func parseMatplotlib(log []byte) Outcomes {
	return parsePytest([]byte(MouseButtons.Replace(string(log))))
}

func shortOption(id string) string {
	main, option, ok := strings.Cut(id, "[")
	option, closed := strings.CutSuffix(option, "]")
	if !ok || !closed || !strings.HasPrefix(option, "/") || strings.HasPrefix(option, "//") || strings.Contains(option, "*") {
		return id
	}
	return main + "[/" + option[strings.LastIndexByte(option, '/')+1:] + "]"
}
