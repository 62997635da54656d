package taskbuild_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/taskbuild"
)

// git runs git and returns its output.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=nobody", "-c", "user.email=nobody@invalid"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestImageHasTheBaseCommitAlone unpacks what goes into an image and looks for anything else in it.
func TestImageHasTheBaseCommitAlone(t *testing.T) {
	b := newBench(t, "one")
	repository, base := b.source[0].Candidate.Repository, b.source[0].Candidate.Base
	write(t, repository, "a.py", "x = 'THE-FIX'\n")
	git(t, repository, "commit", "-q", "-a", "-m", "the fix")
	git(t, repository, "tag", "-a", "v2", "-m", "the fix")
	git(t, repository, "branch", "later")
	write(t, repository, "a.py", "x = 'STASHED-FIX'\n")
	git(t, repository, "stash", "-q")
	b.build()
	dir := t.TempDir()
	unpack(t, b.engine.images[b.lines()[0].Image].Files, dir)
	testbed := filepath.Join(dir, "testbed")
	if head := git(t, testbed, "rev-parse", "HEAD"); head != base {
		t.Errorf("HEAD is %s, not %s", head, base)
	}
	if out := git(t, testbed, "cat-file", "--batch-all-objects", "--batch"); strings.Contains(out, "FIX") || strings.Contains(out, "the fix") {
		t.Errorf("objects: %s", out)
	}
	if refs := git(t, testbed, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("refs: %s", refs)
	}
	if out := git(t, testbed, "status", "--porcelain") + git(t, testbed, "remote") + git(t, testbed, "reflog"); strings.Contains(out, "a.py") || strings.Contains(out, "fix") {
		t.Errorf("state: %s", out)
	}
}

// unpack unpacks an archive.
func unpack(t *testing.T, files func(io.Writer) error, dir string) {
	t.Helper()
	in, out := io.Pipe()
	go func() { out.CloseWithError(files(out)) }()
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 {
			t.Errorf("%s is owned by %d:%d", h.Name, h.Uid, h.Gid)
		}
		if h.Typeflag == tar.TypeReg {
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, h.Name, string(content))
		} else if err := os.MkdirAll(filepath.Join(dir, h.Name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"**/test_*.py", "test_a.py", true}, {"**/test_*.py", "a/b/test_a.py", true}, {"**/test_*.py", "a/test_b/c.py", false},
		{"*.py", "a.py", true}, {"*.py", "a/b.py", false}, {"docs/**", "docs/a/b.md", true}, {"docs/**", "docs.py", false},
		{".*", ".gitignore", true}, {"**/src/test/**", "m/src/test/java/A.java", true}, {"é?.py", "éa.py", true},
	} {
		if got := taskbuild.Match(c.pattern, c.path); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestStatementsThatQuoteTheFixLeak(t *testing.T) {
	const patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n-    return first_value\n+    return first_value + second_value\n context_line_that_is_long = 1\n+x = 1\n"
	for statement, want := range map[string][]string{
		"The sum ignores the second value.":                                    nil,
		"Use\n```\nreturn first_value\n     + second_value\n```":               {"return first_value + second_value"},
		"context_line_that_is_long = 1 is wrong, and so is return first_value": nil,
		"x = 1": nil,
	} {
		if got := taskbuild.Leaks(statement, patch); !slices.Equal(got, want) {
			t.Errorf("%q: %q", statement, got)
		}
	}
}

func TestTestFilesBecomeArguments(t *testing.T) {
	for form, c := range map[taskbuild.TestArguments]struct{ file, want string }{
		taskbuild.TestsFiles:    {"a b/test_x.py", "run 'a b/test_x.py'"},
		taskbuild.TestsPackages: {"pkg/a/x_test.go", "run ./pkg/a"},
		taskbuild.TestsCargo:    {"tests/one.rs", "run --test=one"},
		taskbuild.TestsMaven:    {"src/test/java/org/LoanTest.java", "run -Dtest=LoanTest"},
		taskbuild.TestsGradle:   {"src/test/java/org/LoanTest.java", "run --tests=LoanTest"},
	} {
		b := newBench(t, "one")
		b.options.Recipe.Tests, b.options.Recipe.TestCommand = form, "run {tests}"
		b.source[0].Candidate.TestFiles = []string{c.file, c.file}
		b.build()
		if got := b.lines()[0].TestCmd; got != c.want {
			t.Errorf("%s: %s", form, got)
		}
	}
}

func TestRecipeFilesAreChecked(t *testing.T) {
	good := newBench(t).options.Recipe
	text, err := good.Text()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	read := func(text string) error {
		write(t, dir, "recipe.yaml", text)
		_, err := taskbuild.ReadRecipe(filepath.Join(dir, "recipe.yaml"))
		return err
	}
	if err := read(string(text)); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		"tests: files=tests: all":        "tests: is all",
		"workdir: /testbed=workdir: a":   "workdir: ",
		"image: base=imagé: base":        "imagé",
		"test_seconds: 10=test_seconds:": "test_seconds: is 0",
		"log_parser: pytest=":            "log_parser: is missing",
		"- test_*.py=- [":                "recipe.yaml: ",
	} {
		from, to, _ := strings.Cut(change, "=")
		if err := read(strings.Replace(string(text), from, to, 1)); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "recipe.yaml") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

func TestALinkIsNotReadAsExclude(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "info"), 0o755); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "info", "exclude")
	if err := os.Symlink("/etc/hostname", name); err != nil {
		t.Fatal(err)
	}
	if text, err := taskbuild.ReadExclude(dir); text != nil || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if err := errors.Join(os.Remove(name), os.WriteFile(name, []byte("*.log\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if text, err := taskbuild.ReadExclude(dir); string(text) != "*.log\n" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
}
