package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

var (
	tapResult    = regexp.MustCompile(`^(ok|not ok) \d+ (.+)$`)
	tapDirective = regexp.MustCompile(`(?i)^(.*?)\s*# (skip|todo)\b.*$`)
	tapWords     = map[string]relabel.TestStatus{"ok": relabel.TestPassed, "not ok": relabel.TestFailed}
)

// parseTAP reads the Test Anything Protocol. A test with a hyphen before its name, or a directive
// after it, is also known without them; then the directive decides.
func parseTAP(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		m := tapResult.FindStringSubmatch(trim(line))
		if m == nil {
			continue
		}
		status := tapWords[m[1]]
		o.add(m[2], status)
		name := strings.TrimPrefix(m[2], "- ")
		if d := tapDirective.FindStringSubmatch(name); d != nil {
			name, status = d[1], relabel.TestSkipped
		}
		o.add(name, status)
	}
	return o
}

// avaResult matches a mark, a title and its duration. A failed test has a message after "[fail]:".
var avaResult = regexp.MustCompile(`^([✔✓✘✖-])\s+(?:\[(?:fail|skip|todo)\]: )?(.*?)(?: \([\d.]+m?s\))?$`)

// parseAVA reads the log of AVA.
func parseAVA(log []byte) Outcomes {
	marks := map[string]relabel.TestStatus{
		"✔": relabel.TestPassed, "✓": relabel.TestPassed, "✘": relabel.TestFailed, "✖": relabel.TestFailed, "-": relabel.TestSkipped,
	}
	return markedLines(log, avaResult, marks)
}
