package results

import (
	"regexp"

	"relabel"
)

var (
	jestResult = regexp.MustCompile(`^\s*([✓✔✕×○↓])\s+(\S.*?)(?:\s+(?:\(\d+(?:\.\d+)?\s*m?s\)|\d+(?:\.\d+)?\s*m?s|\[skipped\]))?$`)
	jestMarks  = map[string]relabel.TestStatus{
		"✓": relabel.TestPassed, "✔": relabel.TestPassed, "✕": relabel.TestFailed, "×": relabel.TestFailed,
		"○": relabel.TestSkipped, "↓": relabel.TestSkipped,
	}
)

// parseJest reads the verbose log of Jest or Vitest: a mark, a test's name and how long
// it took. Jest writes "skipped" before the name of a skipped test; it is kept, as SWE-bench
// keeps it.
func parseJest(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := jestResult.FindStringSubmatch(line); m != nil {
			o.add(m[2], jestMarks[m[1]])
		}
	}
	return o
}
