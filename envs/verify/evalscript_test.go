package verify

import (
	"strings"
	"testing"

	"relabel"
)

// newFile is a test patch that adds a file: git refuses all of it where the file is there.
const newFile = testPatch + `diff --git a/tests/test_new.py b/tests/test_new.py
new file mode 100644
--- /dev/null
+++ b/tests/test_new.py
@@ -0,0 +1,5 @@
+import os
+
+
+def test_variable():
+    assert os.environ["NEEDED"] == "a b"
`

// evalScript is a script as SWE-bench v5 has them, in which tests run by a function that is
// defined before.
func evalScript(b *bench) string {
	return "#!/bin/bash\nset -uxo pipefail\nexport NEEDED='a b'\nrunner() { python3 -m pytest -rA -p no:cacheprovider \"$@\"; }\ncd /testbed\n" +
		"git checkout " + b.task.BaseCommit + " tests/test_add.py\ngit apply -v - <<'EOF_1'\n" + newFile + "EOF_1\n" +
		": '>>>>> Start Test Output'\nrunner tests\n: '>>>>> End Test Output'\ngit checkout " + b.task.BaseCommit + " tests/test_add.py\n"
}

func TestAnEvaluationScriptRunsAsAWhole(t *testing.T) {
	b := newBench(t)
	b.task.TestPatch, b.task.EvalScript = newFile, evalScript(b)
	parts, _ := relabel.SplitEvalScript(b.task.EvalScript)
	b.task.TestCmd = parts.Tests
	b.task.FailToPass = append(b.task.FailToPass, "tests/test_new.py::test_variable")
	v := b.expect(relabel.VerdictTestsPassed, gold)
	if !strings.Contains(string(v.Output), "+ git checkout") {
		t.Errorf("nothing ran after the tests:\n%s", v.Output)
	}
	b.expect(relabel.VerdictTests, file("README", "hello\n"))
}

func TestWhatStandsBeforeTheMarksIsNoResult(t *testing.T) {
	b := newBench(t)
	b.task.EvalScript = "echo '= short test summary info ='\necho PASSED tests/test_add.py::test_add\n: '>>>>> Start Test Output'\n" +
		b.task.TestCmd + "\n: '>>>>> End Test Output'\n"
	b.expect(relabel.VerdictTests, file("README", "hello\n"))
	b.expect(relabel.VerdictTestsPassed, gold)
}
