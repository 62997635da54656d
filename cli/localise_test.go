package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"relabel"
	"relabel/codeindex/languages"
	"relabel/envs/repository"
	"relabel/localise"
)

// openTestMirrors opens mirrors with the parsers that need no program.
func openTestMirrors(dir string) (localise.Repositories, []error, func(), error) {
	all, err := repository.Open(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	parsers, missing := languages.Open("/nowhere")
	indexer := repository.NewIndexer(repository.IndexerConfig{Mirrors: all, Parsers: parsers})
	return struct {
		*repository.Mirrors
		*repository.Indexer
	}{all, indexer}, missing, func() { indexer.Close(); parsers.Close(); all.Close() }, nil
}

// runTasks runs `relabel tasks` with arguments.
func runTasks(t *testing.T, args ...string) error {
	t.Helper()
	parser, err := NewParser(&TasksCommand{}, "test", t.TempDir(), kong.BindTo(context.Background(), (*context.Context)(nil)), kong.Bind(&Ports{OpenMirrors: openTestMirrors}), kong.Bind(ServeLocal(nil)))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse(args)
	if err != nil {
		return err
	}
	return k.Run()
}

// testMirrors makes a folder with a mirror of owner/name, in which a line of a function changes.
func testMirrors(t *testing.T) (dir, base, head string) {
	t.Helper()
	dir = t.TempDir()
	tree := filepath.Join(dir, "owner__name.git")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR="+tree, "GIT_WORK_TREE="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", tree)
	for _, content := range []string{"def f():\n    return 1\n", "def f():\n    return 2\n"} {
		writeText(t, filepath.Join(dir, "a.py"), content)
		git("add", "a.py")
		git("commit", "-q", "-m", "x")
	}
	return dir, git("rev-parse", "HEAD~1"), git("rev-parse", "HEAD")
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func testPair(t *testing.T, base, head string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"repository": "owner/name", "base_commit": base, "head_commit": head, "pull_number": 7, "issue": strings.Repeat("It falls. ", 12)})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

func TestTasksToLocaliseAreMadeAndValidated(t *testing.T) {
	dir, base, head := testMirrors(t)
	pairs, out := filepath.Join(dir, "pairs.jsonl"), filepath.Join(dir, "out.jsonl")
	writeText(t, pairs, testPair(t, base, head))
	writeText(t, out, "old")
	for _, more := range [][]string{{"--json"}, nil} {
		args := append([]string{"localise", "--pairs", pairs, "--repositories", dir, "--out", out}, more...)
		if err := runTasks(t, args...); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(text), `"instance_id":"owner__name-7"`) || !strings.Contains(string(text), `"gold_functions":["a.py::f"]`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := errors.Join(runTasks(t, "validate", out), runTasks(t, "validate", out, "--repositories", dir)); err != nil {
		t.Error(err)
	}
	writeText(t, out, strings.Replace(string(text), "a.py::f", "a.py::g", 1))
	if err := runTasks(t, "validate", out); err != nil {
		t.Error(err)
	}
	if err := runTasks(t, "validate", out, "--repositories", dir); !errors.Is(err, ErrSomeFailed) {
		t.Errorf("a function that the base lacks gives %v", err)
	}
	if err := runTasks(t, "localise", "--tasks", out, "--repositories", dir, "--out", out); err == nil || !strings.Contains(err.Error(), "tasks to localise already") {
		t.Errorf("tasks to localise give %v", err)
	}
}

func TestWhatFailsLeavesTheOldTaskFile(t *testing.T) {
	dir, base, head := testMirrors(t)
	good, bad, out, none, names := filepath.Join(dir, "good"), filepath.Join(dir, "bad"), filepath.Join(dir, "out"), filepath.Join(dir, "none"), filepath.Join(dir, "a,b")
	writeText(t, good, testPair(t, base, head))
	writeText(t, bad, testPair(t, base, head)+testPair(t, base, "main"))
	writeText(t, none, "# nothing\n")
	writeText(t, names, "Owner/Name\n")
	writeText(t, out, "old")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--pairs", bad}, "line 2: head_commit: "},
		{[]string{"--pairs", good, "--exclude", none}, "none: the file names no repository"},
		{[]string{"--pairs", good, "--exclude", names}, "no pair became a task"},
		{[]string{"--pairs", good, "--tasks", good}, "can't be used together"},
		{nil, "--pairs"},
	} {
		err := runTasks(t, append([]string{"localise", "--repositories", dir, "--out", out}, c.args...)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	if err := runTasks(t, "localise", "--pairs", good, "--out", out); relabel.CodeOf(err) != relabel.CodeInvalid && (err == nil || !strings.Contains(err.Error(), "--repositories")) {
		t.Errorf("without mirrors: %v", err)
	}
	if err := runTasks(t, "localise", "--pairs", good, "--repositories", dir, "--out", filepath.Join(dir, "no", "out")); err == nil {
		t.Error("a folder that does not exist is written to")
	}
	if text, err := os.ReadFile(out); string(text) != "old" {
		t.Errorf("%s, %v", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".relabel-*")); left != nil {
		t.Errorf("left are %q", left)
	}
}
