package verify

import (
	"strings"
	"testing"

	"relabel"
)

// weakens is code that writes a file of the tests while they run.
const weakens = "open(\"tests/tools.py\", \"a\").write(\"\\n\")\n\n\n"

func TestASubmissionThatWritesTheTestsWhileTheyRunIsTampering(t *testing.T) {
	b := newBench(t)
	solved := strings.Replace(repository["calc.py"], "return a - b", "return a + b", 1)
	v := b.expect(relabel.VerdictTampered, file("calc.py", weakens+solved))
	if !strings.Contains(string(v.Output), "tests/tools.py changed while the tests ran, but not with the gold patch") {
		t.Errorf("the output does not say which file:\n%s", v.Output)
	}
}

func TestTestsThatWriteThemselvesWithTheGoldPatchTooAreGraded(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd = "touch tests/tools.py; " + b.task.TestCmd
	b.expect(relabel.VerdictTestsPassed, gold)
}
