package repair

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Folder is the folder of the image that has the repositories, each named by its task's id.
const Folder = "/tasks"

// testFile is the file that the verifier adds and runs. It has the checks of check.py as unit tests.
const testFile = "test_check.py"

// Line is the task as a line of a task file, without the line end.
func (t Task) Line(image string) ([]byte, error) {
	fails, passes := t.tests()
	return json.Marshal(map[string]any{
		"instance_id": t.ID, "repo": "repair/" + t.ID, "base_commit": t.repository().commit,
		"image": image, "workdir": Folder + "/" + t.ID, "problem_statement": t.Issue,
		"patch": t.goldPatch(), "test_patch": t.testPatch(),
		"test_cmd": "python3 -m unittest -v test_check", "log_parser": "unittest",
		"FAIL_TO_PASS": fails, "PASS_TO_PASS": passes,
	})
}

// tests are the ids of the unit tests: a function of the chain fails, the others pass.
func (t Task) tests() (fails, passes []string) {
	for _, name := range t.names() {
		id := "test_check.Check.test_" + name
		if slices.Contains(t.Chain, name) {
			fails = append(fails, id)
		} else {
			passes = append(passes, id)
		}
	}
	return fails, passes
}

// names are the functions that are checked, sorted.
func (t Task) names() (names []string) {
	for _, c := range t.Checks {
		names = append(names, c.Function)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// goldPatch puts the right operator into the faulty file.
func (t Task) goldPatch() string {
	name := t.Chain[len(t.Chain)-1]
	return fmt.Sprintf("diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -1,2 +1,2 @@\n def %s(a, b):\n-    return a %s b\n+    return a %s b\n",
		t.Faulty, t.Faulty, t.Faulty, t.Faulty, name, t.Wrong, t.Right)
}

// testPatch adds the unit tests.
func (t Task) testPatch() string {
	lines := []string{"import unittest", "", "", "class Check(unittest.TestCase):"}
	for _, name := range t.names() {
		lines = append(lines, "    def test_"+name+"(self):")
		for _, c := range t.Checks {
			if c.Function == name {
				lines = append(lines, fmt.Sprintf("        from %s import %s", c.Module, name),
					fmt.Sprintf("        self.assertEqual(%s(%d, %d), %d)", name, c.A, c.B, c.Want))
			}
		}
	}
	head := fmt.Sprintf("diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%d @@\n", testFile, testFile, testFile, len(lines))
	return head + "+" + strings.Join(lines, "\n+") + "\n"
}
