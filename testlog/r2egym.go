package testlog

import (
	"strings"

	"relabel"
)

// parseR2EGym reads pytest's log as R2E-Gym does: the lines after the first heading of a summary, a test named by what
// follows its file, and the last line of a name. Names are not unique over files, and the empty name is one.
func parseR2EGym(log []byte) Outcomes {
	o := Outcomes{}
	summaries := 0
	for line := range logLines(log) {
		if strings.Contains(line, "short test summary info") {
			summaries++
			continue
		}
		if summaries != 1 {
			continue
		}
		_, name, _ := strings.Cut(line, "::")
		name = strings.ReplaceAll(name, "::", ".")
		var status relabel.TestStatus
		switch {
		case strings.Contains(line, "PASSED"):
			status = relabel.TestPassed
		case strings.Contains(line, "FAILED"):
			status = relabel.TestFailed
		case strings.Contains(line, "ERROR"):
			status = relabel.TestError
		default:
			continue
		}
		if status != relabel.TestPassed {
			name, _, _ = strings.Cut(name, " - ")
		}
		if _, known := o[name]; known || len(o) < maxOutcomes {
			o[name] = status
		}
	}
	return o
}
