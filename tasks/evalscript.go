package tasks

import "strings"

// The lines between which SWE-bench's evaluation scripts run the tests.
const (
	startMark = ">>>>> Start Test Output"
	endMark   = ">>>>> End Test Output"
)

// EvalScript is an evaluation script, cut at the two lines that mark its test command.
type EvalScript struct {
	Before string // what prepares the tests, e.g. exports, an install, the test patch
	Tests  string // the test command, whose output is the log
	After  string // what comes after the tests and moves no outcome
}

// SplitEvalScript cuts a script at its marks: the last line that holds the mark of the
// start, and the first after it that holds the mark of the end. It reports false where one
// of them is missing. The lines of the marks are in no part.
func SplitEvalScript(script string) (EvalScript, bool) {
	lines := strings.Split(script, "\n")
	start := -1
	for i, line := range lines {
		if strings.Contains(line, startMark) {
			start = i
		}
	}
	if start < 0 {
		return EvalScript{}, false
	}
	for i := start + 1; i < len(lines); i++ {
		if strings.Contains(lines[i], endMark) {
			return EvalScript{
				Before: strings.Join(lines[:start], "\n"),
				Tests:  strings.TrimSpace(strings.Join(lines[start+1:i], "\n")),
				After:  strings.Join(lines[i+1:], "\n"),
			}, true
		}
	}
	return EvalScript{}, false
}

// makeEvalScript writes a script that runs commands and then, between the marks, tests.
func makeEvalScript(before []string, tests string) string {
	var b strings.Builder
	for _, command := range before {
		b.WriteString(command + "\n")
	}
	b.WriteString(": '" + startMark + "'\n" + tests + "\n: '" + endMark + "'\n")
	return b.String()
}

// AppliesTestPatch reports whether the script applies the task's test patch itself, as
// SWE-bench's scripts do. It must not be applied before such a script then: a file that the
// patch adds would be there already, and git would apply nothing.
func (s EvalScript) AppliesTestPatch() bool { return strings.Contains(s.Before, "git apply") }
