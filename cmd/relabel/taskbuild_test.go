package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/cli"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
	"relabel/envs/verify"
	"relabel/taskbuild"
	"relabel/tasks"
)

// shelfRecipe is the recipe of the repository below. Its Dockerfile has the later version of a file that the image
// must not have; its dependencies take the place of packages, and its build fails at commits with a file named broken.
const shelfRecipe = `name: pytest
dockerfile: base/Dockerfile
workdir: /testbed
manifests: [requirements.txt]
dependencies: ["cat requirements.txt > installed.txt"]
build: ["test ! -e broken"]
test_command: python3 -m pytest -rA -p no:cacheprovider {tests}
tests: files
log_parser: pytest
test_files: ["test_*.py"]
source_files: ["*.py", broken]
test_seconds: 15
build_seconds: 60
`

// known is a function that the image contains in another package.
const known = "def count(n):\n    if n == 1000:\n        raise ValueError('a thousand is too much')\n    return n\n"

// shelfHistory makes a repository; each commit is a message, followed by its files as NAME=CONTENT.
func shelfHistory(t *testing.T, commits ...[]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shelf")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=nobody", "-c", "user.email=nobody@invalid"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main", dir)
	for _, c := range commits {
		for _, file := range c[1:] {
			name, content, _ := strings.Cut(file, "=")
			if content == "a submodule" {
				git("-C", dir, "update-index", "--add", "--cacheinfo", "160000,4b825dc642cb6eb9a060e54bf8d69288fbee4904,"+name)
			} else if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			} else {
				git("-C", dir, "add", name)
			}
		}
		git("-C", dir, "commit", "-q", "-m", c[0])
	}
	return dir
}

// TestTasksAreBuiltOutOfAHistory builds tasks of good commits between commits of each kind that cannot become tasks.
func TestTasksAreBuiltOutOfAHistory(t *testing.T) {
	t.Setenv("RELABEL_SANDBOXD", envstest.Sandboxd(t))
	host, folder := dockertest.NewHost(t), t.TempDir()
	test := func(want string) string {
		return "test_a.py=import a\n\ndef test_count():\n    assert a.count(1) == " + want + "\n"
	}
	source := func(body string) string { return "a.py=def count(n):\n    " + body + "\n" }
	repository := shelfHistory(t,
		[]string{"The first commit", source("return n"), test("1"), "requirements.txt=one\n", "library=a submodule"},
		[]string{"Counts begin at zero, but must begin at one", source("return n + 1"), test("2")},
		[]string{"The same count in other words", source("return 1 + n"), test("2") + "# the same\n"},
		[]string{"Quote the fix: return n * 1000 + 17 * 3000", source("return n * 1000 + 17 * 3000"), test("52000")},
		[]string{"Refuse to count to a thousand", "a.py=" + known, test("1")},
		[]string{"A test that never ends", "a.py=import time\n\ndef count(n):\n    time.sleep(600)\n", test("3")},
		[]string{"Tests that end again", source("return n")},
		[]string{"A commit whose parent can be built", "broken=1\n", source("return n + 6"), test("7")},
		[]string{"Count on from a commit that cannot be built", source("return n + 7"), test("8")},
	)
	for name, content := range map[string]string{
		"recipe.yaml": shelfRecipe, "base/Dockerfile": "FROM " + envstest.Image(t) + "\nCOPY known.py /opt/other/known.py\n", "base/known.py": "# 2.0\n" + known,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	command := &cli.TasksBuild{
		Repository: repository, Out: filepath.Join(t.TempDir(), "out"), Recipe: filepath.Join(folder, "recipe.yaml"), Range: "HEAD", MaxFiles: 5, MaxLines: 50, Jobs: 2, Runs: 1, PerFunction: 1,
	}
	build := func() taskbuild.Report {
		built, err := buildTasks(t.Context(), command, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return built.(builtTasks).Report
	}
	report := build()
	t.Cleanup(injection{t: t, command: *command, host: host}.removeImages)
	var got []string
	for _, r := range report.Refused {
		got = append(got, r.Title+": "+string(r.Reason))
	}
	want := []string{
		"The first commit: " + string(taskbuild.ReasonRoot),
		"The same count in other words: " + string(taskbuild.ReasonNothingFails),
		"Quote the fix: return n * 1000 + 17 * 3000: " + string(taskbuild.ReasonLeak),
		"Refuse to count to a thousand: " + string(taskbuild.ReasonFixInImage),
		"A test that never ends: " + string(taskbuild.ReasonNeverEnds),
		"Tests that end again: " + string(taskbuild.ReasonNoTests),
		"Count on from a commit that cannot be built: " + string(taskbuild.ReasonImage),
	}
	if !slices.Equal(got, want) || report.Changes != 9 || report.Sound != 2 {
		t.Fatalf("%d changes, %d sound, refused:\n%s", report.Changes, report.Sound, strings.Join(got, "\n"))
	}
	made := importedTasks(t, filepath.Join(command.Out, taskbuild.TasksFile))
	first := made[0]
	if len(made) != 2 || !slices.Equal(first.FailToPass, []string{"test_a.py::test_count"}) || !strings.HasPrefix(first.ProblemStatement, "Counts begin at zero") {
		t.Errorf("%+v", made)
	}
	out, err := exec.Command("docker", "run", "--rm", "--network", "none", first.Image, "bash", "-c", "git rev-list --all --count; git status --porcelain; cat installed.txt a.py").CombinedOutput()
	if err != nil || string(out) != "1\none\ndef count(n):\n    return n\n" {
		t.Errorf("the image: %v: %s", err, out)
	}
	for _, task := range made {
		if v, err := verify.New(host).Validate(t.Context(), task, relabel.PaperLimits, 1); err != nil || v.State != relabel.TaskSound {
			t.Errorf("%s: %v, %s: %s", task.InstanceID, err, v.State, v.Problem)
		}
	}
	if again := build(); again.Built != 0 || again.Sound != report.Sound {
		t.Errorf("a second build: %+v", again)
	}
}

// importedTasks are the tasks of a file as an import reads them.
func importedTasks(t *testing.T, name string) []relabel.Task {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	read, err := tasks.Read(bytes.NewReader(text), tasks.FormatAuto)
	if err != nil {
		t.Fatal(err)
	}
	return read.Tasks
}
