package testlog

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relabel"
)

// grade is how a status counts: the reference has fewer statuses.
func grade(status relabel.TestStatus) string {
	switch {
	case status == "", status == relabel.TestAbsent:
		return "absent"
	case status.Passed():
		return "passed"
	case status == relabel.TestSkipped:
		return "skipped"
	}
	return "failed"
}

// worst is the worst of several statuses.
func worst(all []relabel.TestStatus) relabel.TestStatus {
	return slices.MaxFunc(all, func(a, b relabel.TestStatus) int { return severity[a] - severity[b] })
}

var (
	pytestID   = regexp.MustCompile(`^\S+\.py(?:::.*)?$`)
	lateResult = regexp.MustCompile(`(?m)\S.*--- (?:PASS|FAIL|SKIP): `)
	okLine     = regexp.MustCompile(`(?m)^\s*ok.`)
	heading    = regexp.MustCompile(`(?m)^\s*(?:FAIL|ERROR):`)
	// In altered logs, a line can begin within another, or not at its left end.
	joined   = regexp.MustCompile(`(?m)^(?:PASSED|FAILED|ERROR|XFAIL|XPASS) \S*(?:PASSED|FAILED|ERROR|XFAIL|XPASS) \S+\.py::`)
	indented = regexp.MustCompile(`(?m)^\s+\S+\.py::.* (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)$`)
	twoWords = regexp.MustCompile(`(?m)^test_\w+ (?:E|F|f|s) +ok$`)
)

// messageOf reports whether a name contains what separates an id of pytest from a message.
func messageOf(name string) bool { return strings.Contains(name, " - ") }

// cutIn reports whether the id of a test begins with a name and a space.
func cutIn(o Outcomes, name string) bool {
	for id := range o {
		if strings.HasPrefix(id, name+" ") {
			return true
		}
	}
	return false
}

// reasonFor tells why a test that the reference reads may be read otherwise here; "" if it may not.
func reasonFor(p Parser, log, name string, theirs []relabel.TestStatus, ours Outcomes) string {
	got := ours.Of(name)
	switch {
	case grade(got) == grade(worst(theirs)):
		return "of several outcomes of a test the worst counts here, the last there"
	case p.Runner == Pytest && severity[theirs[len(theirs)-1]] == 0:
		return "a word such as ERRORS is a status there"
	case p.Runner == Pytest && !pytestID.MatchString(name):
		return "text that is not the id of a test is one there"
	case p.Runner == Pytest && messageOf(name) && grade(ours.Of(name[:strings.Index(name, " - ")])) == grade(worst(theirs)):
		return "the message is part of the name there"
	case p.Runner == Pytest && cutIn(ours, name):
		return "an id ends at its first space there"
	case p.Runner == Go && strings.ContainsAny(name, " \t"), p.Runner == Go && lateResult.MatchString(log):
		return "output on the line of a result hides or changes it there"
	case p.Runner == Pytest && grade(got) == "absent" && strings.Contains(log, "= short test summary info ="):
		return "output of the tests is read as results there, here only the summary is"
	case p.Runner == Pytest && indented.MatchString(log):
		return "an indented line is a result there"
	case p.Runner == Pytest && joined.MatchString(log):
		return "two lines that became one are one test there"
	case p.Name == "sympy" && twoWords.MatchString(log):
		return "of several outcomes on a line the first counts here, the last there"
	case strings.Contains(name, "\x1b"):
		return "a part of an escape sequence is in the name there"
	case p.Name == "sympy" && strings.Contains(name, ".py:"):
		return "any text with .py: is a failed test there, here a heading is"
	case p.Runner == Go && strings.Contains(name, "--- "), p.Runner == Unittest && (strings.Contains(name, "... ") || trim(name) != name):
		return "two lines that became one are one test there"
	case p.Runner == Unittest && heading.MatchString(log) && !strings.Contains(name, "(") && grade(theirs[len(theirs)-1]) == "failed":
		return "the heading of a failure names the method alone there"
	case p.Runner == Unittest && okLine.MatchString(log) && slices.Contains(theirs, relabel.TestPassed):
		return "any line that begins with ok ends a test there"
	}
	return ""
}

// compare reads the cases and returns the differences by reason. Those without a reason are errors.
func compare(t *testing.T, cases []compared) map[string]int {
	t.Helper()
	plain := slices.Clone(cases)
	for i, c := range cases {
		p, known := FindFor(c.Parser, c.ID, c.Version)
		if !known {
			t.Fatalf("no parser is named %s", c.Parser)
		}
		plain[i].Log = plainFor(p, c.Log)
	}
	counts := map[string]int{}
	errors := 0
	for i, theirs := range referenceOutcomes(t, plain) {
		c := cases[i]
		p, _ := FindFor(c.Parser, c.ID, c.Version)
		ours := p.Parse([]byte(c.Log))
		if theirs == nil {
			counts["the reference ends with an error"]++
			continue
		}
		counts["cases"]++
		for name, statuses := range theirs {
			if name == "" {
				continue
			}
			counts["tests"]++
			if got := ours.Of(name); grade(got) != grade(statuses[len(statuses)-1]) {
				reason := reasonFor(p, plain[i].Log, name, statuses, ours)
				if counts[reason]++; reason == "" {
					if errors++; errors < 400 {
						t.Errorf("%s of %s: %q is %v there, %s here\n", c.Parser, c.from, name, statuses, got)
					}
				}
			}
		}
		for name := range ours {
			if _, there := theirs[name]; !there {
				counts["names that only this parser has: "+p.Name]++
			}
		}
	}
	return counts
}

// show prints figures in the order of their names.
func show(t *testing.T, counts map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%6d %s", counts[name], name)
	}
}

func TestLogsAreReadAsByTheReference(t *testing.T) {
	var cases []compared
	for _, name := range referenceNames(t) {
		for from, log := range logs(t) {
			cases = append(cases, casesOf(name, from, log)...)
		}
	}
	show(t, compare(t, cases))
}

// ownLogs are the logs of a parser: its name begins their files' names.
func ownLogs(all map[string]string, p Parser) []string {
	var own []string
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if rest, ok := strings.CutPrefix(file, p.Name); ok && (rest[0] == '-' || rest[0] == '.') {
			own = append(own, file)
		}
	}
	return own
}

var word = regexp.MustCompile(`\S+`)

// altered is a log with some random changes: lines of output between and within its own, colours,
// carriage returns, lost and repeated lines.
func altered(random *rand.Rand, log string) string {
	lines := strings.SplitAfter(log, "\n")
	noise := []string{"noise\n", "    at x (y.js:1:2)\n", "ok\n", "PASSED\n", "  group\n", "FAILED a - b\n", " ... ", "\n", "\tx: y\n", "é ✓\n", "1) x:\n", "test "}
	for range 1 + random.IntN(4) {
		at := random.IntN(len(lines))
		line := lines[at]
		switch random.IntN(8) {
		case 0:
			lines = slices.Insert(lines, at, noise[random.IntN(len(noise))])
		case 1:
			cut := random.IntN(len([]rune(line)) + 1)
			lines[at] = string([]rune(line)[:cut]) + noise[random.IntN(len(noise))] + string([]rune(line)[cut:])
		case 2:
			lines[at] = word.ReplaceAllString(line, "\x1b[32m$0\x1b[0m")
		case 3:
			lines[at] = strings.TrimSuffix(line, "\n") + "\r\n"
		case 4:
			lines = slices.Delete(lines, at, at+1)
		case 5:
			lines = slices.Insert(lines, random.IntN(len(lines)), line)
		case 6:
			lines[at] = string([]rune(line)[:random.IntN(len([]rune(line))+1)])
		case 7:
			lines[at] = "  " + line
		}
		if len(lines) == 0 {
			return ""
		}
	}
	return strings.Join(lines, "")
}

func TestAlteredLogsAreReadAsByTheReference(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	rounds := 50
	if os.Getenv("RELABEL_TEST_ALL") != "" {
		rounds = 3000
	}
	all := logs(t)
	var cases []compared
	for _, name := range referenceNames(t) {
		for _, c := range casesOf(name, "", "") {
			p, _ := FindFor(c.Parser, c.ID, c.Version)
			for i := range rounds {
				own := ownLogs(all, p)
				if len(own) == 0 {
					t.Fatalf("no log of %s", p.Name)
				}
				file := own[random.IntN(len(own))]
				c.Log, c.from = altered(random, all[file]), fmt.Sprintf("%s, altered (%d)", file, i)
				cases = append(cases, c)
			}
		}
	}
	show(t, compare(t, cases))
}
