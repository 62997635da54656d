package taskbuild

import (
	"bytes"
	"context"
	"regexp"
	"strings"
)

// StatementWriter writes problem statements. It is safe for concurrent use.
type StatementWriter interface {
	// Write returns a statement of the problem that a change solves, or why there is none. An error, for
	// example of the endpoint of a model, ends the build.
	Write(ctx context.Context, r StatementRequest) (statement string, refusal *Refusal, err error)
}

// StatementRequest is what a problem statement is written from.
type StatementRequest struct {
	Repo      string
	Patch     string   // the fix; nothing of it may be in the statement
	TestPatch string   // "" if the tests are there already
	Failing   []string // tests that fail without the fix
	Output    string   // what they print: see FailureOutput
}

// maxOutput is how many bytes FailureOutput returns at most.
const maxOutput = 4000

var (
	colors     = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	digits     = regexp.MustCompile(`[0-9]+`)
	blankLines = regexp.MustCompile(`\n{3,}`)
	// verifierLine matches the lines that the verifier writes around a log.
	verifierLine = regexp.MustCompile(`(?m)^[0-9a-f]{32} (begin|end \d+)\s*\n?`)
)

// FailureOutput returns the lines of a log of failing tests that the log of passing ones lacks, numbers and
// colours aside: about 4,000 bytes of them, with … at the place of the others.
func FailureOutput(failing, passing []byte) string {
	known := map[string]bool{}
	for line := range bytes.Lines(passing) {
		known[withoutNumbers(line)] = true
	}
	var lines []string
	for line := range bytes.Lines(verifierLine.ReplaceAll(failing, nil)) {
		if key := withoutNumbers(line); key == "" || !known[key] {
			text := bytes.ToValidUTF8(colors.ReplaceAll(line, nil), []byte("?"))
			lines = append(lines, strings.TrimRight(string(text), " \t\r\n"))
		}
	}
	text := strings.Trim(blankLines.ReplaceAllString(strings.Join(lines, "\n"), "\n\n"), "\n")
	if len(text) > maxOutput {
		cut := strings.LastIndexByte(text[:maxOutput], '\n')
		text = strings.ToValidUTF8(text[:max(cut, 0)], "") + "\n…"
	}
	return text
}

// withoutNumbers is a line of a log without what differs from run to run.
func withoutNumbers(line []byte) string {
	return strings.TrimSpace(string(digits.ReplaceAll(colors.ReplaceAll(line, nil), []byte("0"))))
}
