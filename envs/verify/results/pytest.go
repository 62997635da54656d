package results

import (
	"iter"
	"regexp"
	"strings"

	"relabel"
)

var (
	ansi          = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	summaryHeader = regexp.MustCompile(`^=+ short test summary info =+$`)
	sectionHeader = regexp.MustCompile(`^=+ .* =+$`)
	statusLast    = regexp.MustCompile(`^(\S+?::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[\s*\d+%\])?$`)
	statusXdist   = regexp.MustCompile(`^\[gw\d+\](?:\s+\[\s*\d+%\])? (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S.*)$`)
	subtestFailed = regexp.MustCompile(`^(?:\S.*, )?SUBFAIL(?:ED)?\b.*?(\S+::\S+)`)
)

// parsePytest reads what pytest -rA writes under "short test summary info": a status
// and a test id, and after " - " a message. Where the log has no such heading every
// line is read. Skipped tests are listed by place and not by id there, so that they
// count as absent.
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

// summaryLines yields the lines of every summary, or all lines where none exists.
func summaryLines(log []byte) iter.Seq[string] {
	if !hasSummary(log) {
		return logLines(log)
	}
	return func(yield func(string) bool) {
		inside := false
		for line := range logLines(log) {
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

// hasSummary reports whether a line is the heading of a summary.
func hasSummary(log []byte) bool {
	for line := range logLines(log) {
		if summaryHeader.MatchString(line) {
			return true
		}
	}
	return false
}

// withoutMessage cuts a message off an id. The brackets of a parametrised id may hold
// the separator themselves; PASSED lines have no message.
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

// parsePytestV2 also reads the lines of pytest -v, with the status after the id, and
// those of its xdist form.
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

// parsePytestOptions shortens a parameter that is an absolute path to its last part,
// as data sets do whose ids must not depend on where the repository lies.
func parsePytestOptions(log []byte) Outcomes {
	o := Outcomes{}
	for id, status := range parsePytest(log) {
		o.add(shortOption(id), status)
	}
	return o
}

// mouseButtons writes the parameters of Matplotlib's mouse tests as numbers: how pytest
// writes them depends on the version of Python, and data sets have the numbers.
var mouseButtons = strings.NewReplacer("MouseButton.LEFT", "1", "MouseButton.RIGHT", "3")

// parseMatplotlib reads pytest's log with mouse buttons as numbers.
func parseMatplotlib(log []byte) Outcomes {
	return parsePytest([]byte(mouseButtons.Replace(string(log))))
}

func shortOption(id string) string {
	main, option, ok := strings.Cut(id, "[")
	option, closed := strings.CutSuffix(option, "]")
	if !ok || !closed || !strings.HasPrefix(option, "/") || strings.HasPrefix(option, "//") || strings.Contains(option, "*") {
		return id
	}
	return main + "[/" + option[strings.LastIndexByte(option, '/')+1:] + "]"
}
