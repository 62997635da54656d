package verify

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"relabel"
	"relabel/tasks"
)

// newFile is a test patch that adds a file: git refuses all of it if the file is there.
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
	parts, _ := tasks.SplitEvalScript(b.task.EvalScript)
	b.task.TestCmd = parts.Tests
	b.task.FailToPass = append(b.task.FailToPass, "tests/test_new.py::test_variable")
	v := b.expect(relabel.VerdictTestsPassed, gold)
	if !strings.Contains(string(v.Output), "+ git checkout") {
		t.Errorf("nothing ran after the tests:\n%s", v.Output)
	}
	b.expect(relabel.VerdictTests, file("README", "hello\n"))
}

// TestCanariesStandBelowTestsThatAnEvaluationScriptWrites has a script that applies the test
// patch itself, and takeovers of what only these tests use.
func TestCanariesStandBelowTestsThatAnEvaluationScriptWrites(t *testing.T) {
	const tests = "import unittest\n\n\nclass Case(unittest.TestCase):\n    pass\n\n\nfrom calc import add\n\n\n" +
		"class AddTest(Case):\n    def test_add(self):\n" +
		"        self.assertTupleEqual((add(1, 2),), (3,))\n"
	b := newBench(t)
	b.task.TestPatch = addition("tests/test_aa.py", tests)
	b.task.EvalScript = "cd /testbed\ngit apply -v - <<'EOF_1'\n" + b.task.TestPatch + "EOF_1\n: '>>>>> Start Test Output'\n" + b.task.TestCmd + "\n: '>>>>> End Test Output'\n" +
		"echo left: $(ls /tmp)\n"
	b.task.FailToPass = []string{"tests/test_aa.py::AddTest::test_add"}
	v := b.expect(relabel.VerdictTestsPassed, gold)
	output := string(v.Output)
	if !v.Canaries || strings.Contains(output, "are left out") || !regexp.MustCompile(`(?m)^FAILED tests/test_aa.py::\w+Test::`).MatchString(output) {
		t.Errorf("canaries %v:\n%s", v.Canaries, output)
	}
	if regexp.MustCompile(`left:.*\w+_\w+_\w+`).MatchString(output) {
		t.Errorf("canaries are left behind:\n%s", output)
	}
	for name, code := range map[string]string{
		"assertion":  "import unittest\nunittest.TestCase.assertTupleEqual = lambda *given: None",
		"base class": "import sys\nimport unittest\nkind = unittest.TestCase.__subclasses__()\nfor case in kind:\n    if case.__name__ == 'Case':\n        case._callTestMethod = lambda *given: None",
	} {
		code = strings.ReplaceAll("def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n\n\nCODE\n", "CODE", code)
		if v := b.verify(b.patch(file("calc.py", code))); v.Passed || v.Reason != relabel.VerdictTampered {
			t.Errorf("%s: passed %v, reason %q\n%s", name, v.Passed, v.Reason, v.Output)
		}
	}
}

// addition is a patch that adds a file.
func addition(name, content string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(content, "\n"), "\n")
	return fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n+%s\n", name, name, name, len(lines), strings.Join(lines, "+"))
}

func TestOutputBeforeTheMarksIsNotAResult(t *testing.T) {
	b := newBench(t)
	b.task.EvalScript = "echo '= short test summary info ='\necho PASSED tests/test_add.py::test_add\n: '>>>>> Start Test Output'\n" +
		b.task.TestCmd + "\n: '>>>>> End Test Output'\n"
	b.expect(relabel.VerdictTests, file("README", "hello\n"))
	b.expect(relabel.VerdictTestsPassed, gold)
}
