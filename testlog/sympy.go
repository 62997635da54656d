package testlog

import (
	"regexp"
	"strings"

	"relabel"
)

var (
	sympyFailure = regexp.MustCompile(`^_+ (\S+\.py:\S+) _+$`)
	sympyWords   = map[string]relabel.TestStatus{
		"ok": relabel.TestPassed, "E": relabel.TestError, "F": relabel.TestFailed, "f": relabel.TestXFail, "s": relabel.TestSkipped,
	}
)

// parseSympy reads the log of SymPy's own runner: a test and ok, E, F, f (expected to fail) or s,
// and headings between underscores for failures.
func parseSympy(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := sympyFailure.FindStringSubmatch(line); m != nil {
			_, test, _ := strings.Cut(m[1], ".py:")
			o.add(m[1], relabel.TestFailed)
			o.add(test, relabel.TestFailed)
		} else if words := fields(line); len(words) > 1 && strings.HasPrefix(words[0], "test_") {
			status, known := sympyWords[words[1]]
			if !known { // output of the test comes before it
				status = sympyWords[words[len(words)-1]]
			}
			o.add(words[0], status)
		}
	}
	return o
}
