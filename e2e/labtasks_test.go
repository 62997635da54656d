package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"relabel"
	"relabel/envs/docker/dockertest"
)

// The repository of the tests' tasks: three functions do what they should not.
var repository = map[string]string{
	"calc.py":            "def add(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a + b\n",
	"text.py":            "def shout(s):\n    return s.lower()\n",
	"tests/test_calc.py": "from calc import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n",
	"conftest.py":        "",
	"pytest.ini":         "[pytest]\n",
	".gitignore":         "__pycache__/\n",
}

// flaw is one of its bugs.
type flaw struct{ name, file, wrong, right, test string }

var flaws = []flaw{
	{"add", "calc.py", "return a - b", "return a + b", "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"},
	{"mul", "calc.py", "def mul(a, b):\n    return a + b", "def mul(a, b):\n    return a * b", "from calc import mul\n\n\ndef test_mul():\n    assert mul(3, 4) == 12\n"},
	{"shout", "text.py", "s.lower()", "s.upper()", "from text import shout\n\n\ndef test_shout():\n    assert shout('hey') == 'HEY'\n"},
}

// made are the tasks of all labs, with a folder of mirrors of their repository, and what removes image and
// mirrors when the tests are over.
var made struct {
	sync.Mutex
	tasks   []relabel.Task
	mirrors string
	remove  func() error
}

// madeTasks makes the image and a task for each flaw, once.
func madeTasks(t testing.TB) []relabel.Task {
	t.Helper()
	made.Lock()
	defer made.Unlock()
	if made.tasks == nil {
		made.tasks = makeTasks(t)
	}
	return made.tasks
}

func makeTasks(t testing.TB) (tasks []relabel.Task) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range repository {
		write(t, dir, name, content)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "base")
	base := strings.TrimSpace(git(t, dir, "rev-parse", "HEAD"))
	image, remove := dockertest.ImageOfMany(t, dir, "/testbed")
	mirrors, err := os.MkdirTemp("", "relabel-mirrors-")
	if err != nil {
		t.Fatal(err)
	}
	made.mirrors, made.remove = mirrors, func() error { return errors.Join(remove(), os.RemoveAll(mirrors)) }
	git(t, mirrors, "clone", "-q", "--bare", dir, "test__calc.git")
	for _, f := range flaws {
		test := "tests/test_" + f.name + ".py"
		task := relabel.Task{
			InstanceID: "calc__" + f.name, Repo: "test/calc", Image: image, Workdir: "/testbed", BaseCommit: base,
			ProblemStatement: "The function " + f.name + " in " + f.file + " returns something wrong. Its callers rely on it, so please put it right.",
			TestCmd:          "python3 -m pytest -rA -p no:cacheprovider tests", LogParser: "pytest",
			FailToPass: []string{test + "::test_" + f.name}, PassToPass: []string{"tests/test_calc.py::test_zero"},
		}
		task.Patch = diff(t, dir, f.file, strings.Replace(repository[f.file], f.wrong, f.right, 1))
		task.TestPatch = diff(t, dir, test, f.test)
		tasks = append(tasks, task)
	}
	return tasks
}

// writeTasks writes the task file.
func (l *lab) writeTasks(t testing.TB) {
	t.Helper()
	var lines bytes.Buffer
	for _, task := range l.tasks {
		line, err := json.Marshal(map[string]any{
			"instance_id": task.InstanceID, "repo": task.Repo, "image": task.Image, "workdir": task.Workdir, "base_commit": task.BaseCommit,
			"problem_statement": task.ProblemStatement, "hints_text": "", "patch": task.Patch, "test_patch": task.TestPatch,
			"test_cmd": task.TestCmd, "log_parser": task.LogParser, "FAIL_TO_PASS": task.FailToPass, "PASS_TO_PASS": task.PassToPass,
		})
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	if err := os.WriteFile(l.file, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// diff returns the patch that gives a file of the repository another content.
func diff(t testing.TB, dir, name, content string) string {
	t.Helper()
	write(t, dir, name, content)
	git(t, dir, "add", "-A", "-f")
	patch := git(t, dir, "diff", "--no-color", "--cached", "HEAD")
	git(t, dir, "reset", "-q", "--hard")
	return patch
}
