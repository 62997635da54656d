package tasks

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"relabel/testlog"
)

func TestTheTableOfTestCommandsIsThatOfTheReference(t *testing.T) {
	python, err := exec.Command("../scripts/python.sh", "testdata/requirements.txt").Output()
	if err != nil {
		t.Fatalf("no Python with testdata/requirements.txt: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "-B", "testdata/testruns.py")
	table, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(table), "\n"), strings.Split(string(testRunsTable), "\n")
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("line %d of testruns.json differs from testdata/testruns.py", i+1)
		}
	}
}

func TestEveryRepositoryOfTheTableHasAParserAndAnImage(t *testing.T) {
	versions := 0
	for repo, of := range testRuns() {
		for _, run := range of.Runs {
			versions += len(run.Versions)
			for _, version := range run.Versions {
				if _, known := testlog.FindFor(of.Parser, "x-"+version, version); !known {
					t.Errorf("%s %s: no parser is named %q", repo, version, of.Parser)
				}
			}
		}
		if !slices.Contains(sweBenchRepos, repo) {
			t.Errorf("%s is not one of SWE-bench's repositories", repo)
		}
	}
	if versions < 600 {
		t.Errorf("the table has %d versions", versions)
	}
}

func TestALineWithoutScriptIsTestedAsItsVersion(t *testing.T) {
	first, _, _ := strings.Cut(string(readTaskFile(t, "swebench")), "\n")
	patchOf := func(file string) string {
		return "diff --git a/" + file + " b/" + file + "\n--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-a\n+b\n"
	}
	for _, c := range []struct{ repo, version, file, id, tests, before, parser, refused string }{
		{"django/django", "3.0", "tests/admin_views/tests.py", "a__b-1", "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 admin_views.tests", "export LC_ALL=en_US.UTF-8", "django", ""},
		{"sphinx-doc/sphinx", "4.1", "tests/test_a.py", "a__b-1", "tox --current-env -epy39 -v -- tests/test_a.py", "python -m pip install -e .[test]", "pytest_v2", ""},
		{"sympy/sympy", "1.9", "sympy/core/tests/test_a.py", "a__b-1", "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose sympy/core/tests/test_a.py", "pip install", "sympy", ""},
		{"google/gson", "2061", "gson/src/test/java/A.java", "google__gson-2061", "-Dtest", "set -x", "maven", ""},
		{"immutable-js/immutable-js", "2005", "__tests__/a.ts", "immutable-js__immutable-js-2005", "npx jest", "npm run build", "jest_json", ""},
		{"Automattic/wp-calypso", "8.9.1", "client/a/test/b.js", "a__b-1", "./node_modules/.bin/jest --verbose -c=test/client/jest.config.json client/a/test/b.js", "set -x", "", ""},
		{"chartjs/Chart.js", "3.0", "test/a.js", "a__b-1", "", "", "", "repo"},
		{"django/django", "99.0", "tests/a/tests.py", "a__b-1", "", "", "", "version"},
	} {
		line := changeLine(t, first, map[string]any{"repo": c.repo, "version": c.version, "test_patch": patchOf(c.file), "instance_id": c.id})
		tasks, err := readTasks(strings.NewReader(line), FormatSWEBench)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s %s: got %v", c.repo, c.version, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s %s: %v", c.repo, c.version, err)
			continue
		}
		script, _ := SplitEvalScript(tasks[0].EvalScript)
		if !strings.Contains(tasks[0].TestCmd, c.tests) || !strings.Contains(script.Before, c.before) || c.parser != "" && tasks[0].LogParser != c.parser {
			t.Errorf("%s %s: %q after %q, read by %s", c.repo, c.version, tasks[0].TestCmd, script.Before, tasks[0].LogParser)
		}
	}
}
