package main

import (
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"relabel"
	"relabel/codeindex/languages/languagestest"
	"relabel/envs/verify"
	"relabel/gitdiff"
	"relabel/taskbuild"
	"relabel/taskbuild/inject"
)

// open starts a container of a task's image.
func (i injection) open(task relabel.Task) inject.Container {
	i.t.Helper()
	r, err := (rooms{host: i.host}).Open(context.Background(), task)
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			i.t.Error(err)
		}
	})
	return r
}

// git runs git in the repository, with the environment's configuration, and returns its output.
func (i injection) git(args ...string) string {
	i.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", i.command.Repository}, args...)...).Output()
	if err != nil {
		i.t.Fatalf("git %s: %v", args, err)
	}
	return string(out)
}

// checkNoTrace fails if the image of a task has the source without the bug: as an object of its repository, or in
// any file.
func (i injection) checkNoTrace(task relabel.Task) {
	i.t.Helper()
	changed, err := gitdiff.Parse(task.Patch)
	if err != nil {
		i.t.Fatal(err)
	}
	right := i.git("rev-parse", "HEAD", "HEAD^{tree}", "HEAD:"+changed[0].New)
	r := i.open(task)
	script := "for object in " + strings.Join(strings.Fields(right), " ") + "; do git cat-file -e $object && echo $object; done 2>/dev/null; git log --oneline | wc -l"
	if ran, err := r.Run(context.Background(), script, 0); err != nil || strings.TrimSpace(string(ran.Output)) != "1" {
		i.t.Errorf("%v: the objects without the bug that are there, and the number of commits: %s", err, ran.Output)
	}
	for line := range strings.Lines(task.Patch) {
		if fixed, added := strings.CutPrefix(line, "+"); added && !strings.HasPrefix(fixed, "++") {
			script := "grep -rlF -e " + taskbuild.Quote(strings.TrimSpace(fixed)) + " /etc /home /opt /root /srv /testbed /tmp /usr/local /var | grep -vx " + path.Join(task.Workdir, changed[0].New)
			if ran, err := r.Run(context.Background(), script, 0); err != nil || len(ran.Output) > 0 {
				i.t.Errorf("%v: %q is in %s", err, fixed, ran.Output)
			}
		}
	}
}

// weakened are the test files of testdata, and what makes all of their tests pass.
var weakened = map[string]struct {
	path, was, now string
}{
	"python":     {"tests/test_stock.py", `(?m)^    (assert .*|with .*\n.*)$`, "    pass"},
	"go":         {"stock_test.go", `(?s)\bif .*?\n\t\}\n`, ""},
	"javascript": {"stock.test.js", `expect\(.*`, ""},
}

// checkTestsCannotBeEdited fails if a submission passes that changes the tests instead of the code. The task has no
// test patch that would restore them.
func (i injection) checkTestsCannotBeEdited(task relabel.Task, language string) {
	i.t.Helper()
	w := weakened[language]
	name := filepath.Join(i.command.Repository, w.path)
	tests, err := os.ReadFile(name)
	if err != nil {
		i.t.Fatal(err)
	}
	easy := regexp.MustCompile(w.was).ReplaceAll(tests, []byte(w.now))
	if err := os.WriteFile(name, easy, 0o644); err != nil {
		i.t.Fatal(err)
	}
	patch := i.git("diff")
	i.git("checkout", "-q", ".")
	r := i.open(task)
	if err := r.WriteFile(context.Background(), path.Join(task.Workdir, w.path), easy); err != nil {
		i.t.Fatal(err)
	}
	if ran, err := r.Run(context.Background(), task.TestCmd, 0); err != nil || ran.Exit != 0 {
		i.t.Fatalf("%v: the edited tests do not pass, so this checks nothing: %s\n%s", err, ran.Output, easy)
	}
	verdict, err := verify.New(i.host).Verify(context.Background(), task, relabel.NewID(), 1, relabel.RunLimits{VerifySeconds: 300}, []byte(patch))
	if err != nil || verdict.Passed || verdict.Reason != relabel.VerdictTests || verdict.DroppedCount != 1 {
		i.t.Errorf("%v: %s, %d dropped, infra %q", err, verdict.Reason, verdict.DroppedCount, verdict.Infra)
	}
}

func TestBugsWithACopyOfTheRightCodeAreRefused(t *testing.T) {
	t.Setenv("RELABEL_PARSERS", languagestest.Folder(t))
	recipe := injections["javascript"]
	// Installed packages that contain the package itself do this; here it also has another layout.
	recipe.Dependencies = []string{"mkdir -p /opt/copy && tr -s ' \\n' '\\t' <stock.js >/opt/copy/bundle.js"}
	report, _, _ := newInjection(t, "javascript", recipe).build()
	if report.Sound > 0 || report.Candidates > 0 || report.Changes == 0 {
		t.Fatalf("%+v", report)
	}
	for _, r := range report.Refused {
		if r.Reason != taskbuild.ReasonCopied && r.Reason != taskbuild.ReasonUnnoticed || r.Reason == taskbuild.ReasonCopied && r.Detail != "/opt/copy/bundle.js" {
			t.Errorf("%+v", r)
		}
	}
}

func TestWhatPythonCompiledOfTheRightCodeIsRemoved(t *testing.T) {
	recipe := injections["python"]
	recipe.Dependencies = []string{"python3 -c 'import stock, vendor.copied; open(\"__pycache__/kept\", \"w\")' && mkdir -p other/__pycache__ && touch other/__pycache__/kept"}
	i := newInjection(t, "python", recipe)
	report, _, made := i.build()
	if report.Sound == 0 {
		t.Fatalf("%+v", report)
	}
	ran, err := i.open(made.Tasks[0]).Run(context.Background(), "find . -path ./.git -prune -o -path '*/__pycache__/*' -print; git status --porcelain", 0)
	if err != nil || string(ran.Output) != "./other/__pycache__/kept\n" {
		t.Errorf("%v: %s", err, ran.Output)
	}
}
