package results

import (
	"bytes"
	"iter"
	"regexp"
	"strings"

	"relabel"
)

// Bounds on what is read of a log. Code under test can write to the log.
const (
	maxLine       = 64 << 10 // bytes of a line; the rest is ignored
	maxOutcomes   = 500_000  // tests; later ones count as absent
	maxImportPath = 256      // bytes of the path of a Go package
)

var ansi = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// logLines yields the lines of a log without colours and carriage returns. It holds one line at
// a time, because a log can have as many lines as bytes.
func logLines(log []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range bytes.SplitSeq(log, []byte("\n")) {
			line = line[:min(len(line), maxLine)]
			if bytes.IndexByte(line, '\x1b') >= 0 {
				line = ansi.ReplaceAll(line, nil)
			}
			if !yield(strings.TrimRight(string(line), "\r")) {
				return
			}
		}
	}
}

var (
	goResult  = regexp.MustCompile(`--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$`)
	goPackage = regexp.MustCompile(`^(?:ok|FAIL|---)\s+(\S+)\s+(?:[0-9.]+s|\(cached\))`)
	goWords   = map[string]relabel.TestStatus{"PASS": relabel.TestPassed, "FAIL": relabel.TestFailed, "SKIP": relabel.TestSkipped}
)

// parseGoTest reads the log of go test -v. A test has two names: TestA/sub and PACKAGE:TestA/sub.
// If several packages have a test of the plain name, the worst outcome counts for it.
func parseGoTest(log []byte) Outcomes {
	o, ofPackage := Outcomes{}, Outcomes{}
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

var (
	jestResult = regexp.MustCompile(`^\s*([✓✔✕×○↓])\s+(\S.*?)(?:\s+(?:\(\d+(?:\.\d+)?\s*m?s\)|\d+(?:\.\d+)?\s*m?s|\[skipped\]))?$`)
	jestMarks  = map[string]relabel.TestStatus{
		"✓": relabel.TestPassed, "✔": relabel.TestPassed, "✕": relabel.TestFailed, "×": relabel.TestFailed,
		"○": relabel.TestSkipped, "↓": relabel.TestSkipped,
	}
)

// parseJest reads the verbose log of Jest or Vitest: a mark, a test's name and its duration. It
// keeps the word "skipped" that Jest writes before the name of a skipped test, as SWE-bench does.
func parseJest(log []byte) Outcomes {
	o := Outcomes{}
	for line := range logLines(log) {
		if m := jestResult.FindStringSubmatch(line); m != nil {
			o.add(m[2], jestMarks[m[1]])
		}
	}
	return o
}

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
		} else if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[0], "test_") {
			o.add(fields[0], sympyWords[fields[1]])
		}
	}
	return o
}
