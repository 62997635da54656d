package tasks

import "strings"

// SWE-bench's evaluation scripts run the tests between these lines.
const (
	startMark = ">>>>> Start Test Output"
	endMark   = ">>>>> End Test Output"
)

// EvalScript is an evaluation script, cut at the two lines that mark its test command.
type EvalScript struct {
	Before string // preparation of the tests: exports, an install, the test patch
	Tests  string // the test command, whose output is the log
	After  string // commands after the tests, which do not affect the outcome
}

// SplitEvalScript splits a script at its last line with the start mark and the first later
// line with the end mark. It reports false if one is missing. The parts exclude these lines.
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
// SWE-bench's scripts do. The verifier must not apply it before such a script: git would
// refuse a patch that adds existing files.
func (s EvalScript) AppliesTestPatch() bool { return strings.Contains(s.Before, "git apply") }
