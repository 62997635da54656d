package inject

import (
	"fmt"
	"strings"

	"relabel/safetext"
)

// maxNames is how many tests a problem statement names.
const maxNames = 10

// problemStatement tells from the failing tests and their output what is wrong. It does not contain anything
// of the fix.
func problemStatement(t tried) string {
	var b strings.Builder
	if len(t.Failing) == 1 {
		b.WriteString("A test that used to pass fails now:\n\n")
	} else {
		fmt.Fprintf(&b, "%d tests that used to pass fail now:\n\n", len(t.Failing))
	}
	for _, name := range t.Failing[:min(len(t.Failing), maxNames)] {
		fmt.Fprintf(&b, "- %s\n", safetext.TerminalLine(name))
	}
	if more := len(t.Failing) - maxNames; more > 0 {
		fmt.Fprintf(&b, "- … and %d more\n", more)
	}
	b.WriteString("\nThe tests are right: the code that they test has a bug. Find the cause and correct the code, without changes to the tests.\n")
	if t.Output != "" {
		b.WriteString("\nThis is what the test run prints about it:\n\n```\n" + strings.ReplaceAll(safetext.Terminal(t.Output), "```", "'''") + "\n```\n")
	}
	return b.String()
}
