package results

import (
	"regexp"

	"relabel"
)

var (
	goResult  = regexp.MustCompile(`--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$`)
	goPackage = regexp.MustCompile(`^(?:ok|FAIL|---)\s+(\S+)\s+(?:[0-9.]+s|\(cached\))`)
	goWords   = map[string]relabel.TestStatus{"PASS": relabel.TestPassed, "FAIL": relabel.TestFailed, "SKIP": relabel.TestSkipped}
)

// maxImportPath is the longest path of a package that is noted with its tests, in bytes.
const maxImportPath = 256

// parseGoTest reads the log of go test -v. A test is known by its name, subtests with
// slashes, and by its package's path, a colon and its name; the plain name of a test
// that is in several packages has the worst of their outcomes.
func parseGoTest(log []byte) Outcomes {
	o := Outcomes{}
	ofPackage := Outcomes{}
	for line := range logLines(log) {
		if m := goResult.FindStringSubmatch(line); m != nil {
			o.add(m[2], goWords[m[1]])
			ofPackage.add(m[2], goWords[m[1]])
		} else if m := goPackage.FindStringSubmatch(line); m != nil && len(m[1]) <= maxImportPath {
			for test, status := range ofPackage {
				o.add(m[1]+":"+test, status)
			}
			ofPackage = Outcomes{}
		}
	}
	return o
}
