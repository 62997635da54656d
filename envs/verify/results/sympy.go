package results

import (
	"regexp"
	"strings"

	"relabel"
)

// parseSympy reads the log of SymPy's own runner: a test and ok, E, F, f (expected to
// fail) or s, and headings with underscores for failures.
func parseSympy(log []byte) Outcomes {
	o := Outcomes{}
	words := map[string]relabel.TestStatus{
		"ok": relabel.TestPassed, "E": relabel.TestError, "F": relabel.TestFailed,
		"f": relabel.TestXFail, "s": relabel.TestSkipped,
	}
	for line := range logLines(log) {
		if m := sympyFailure.FindStringSubmatch(line); m != nil {
			o.add(m[1], relabel.TestFailed)
			_, test, _ := strings.Cut(m[1], ".py:")
			o.add(test, relabel.TestFailed)
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "test_") {
			continue
		}
		if status, ok := words[fields[1]]; ok {
			o.add(fields[0], status)
		}
	}
	return o
}

var sympyFailure = regexp.MustCompile(`^_+ (\S+\.py:\S+) _+$`)
