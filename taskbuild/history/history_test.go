package history_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/taskbuild"
	"relabel/taskbuild/history"
)

// repository is a git repository of a test.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, filepath.Join(t.TempDir(), "shelf")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir, "-c", "user.name=nobody", "-c", "user.email=nobody@invalid"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, given as name, content, …, and commits them. "" removes a file.
func (r repository) commit(message string, files ...string) string {
	r.t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(r.dir, files[i])
		if files[i+1] == "" {
			r.git("rm", "-q", files[i])
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", message)
	return r.git("rev-parse", "HEAD")
}

// items returns what the history gives, by the subject of the commit.
func (r repository) items(change func(*history.Config)) map[string]taskbuild.Item {
	r.t.Helper()
	c := history.Config{Repository: r.dir, MaxFiles: 2, MaxLines: 20, Recipe: taskbuild.Recipe{
		TestFiles: []string{"test/**", "**/test_*.py"}, RunFiles: []string{"**/test_*.py"}, SourceFiles: []string{"**/*.py", "**/*.bin"}, Ignore: []string{"docs/**"},
	}}
	if change != nil {
		change(&c)
	}
	source, err := history.Open(r.t.Context(), c)
	if err != nil {
		r.t.Fatal(err)
	}
	found := map[string]taskbuild.Item{}
	for item, err := range source.Items(r.t.Context()) {
		if err != nil {
			r.t.Fatal(err)
		}
		title := item.Candidate.Title
		if item.Refusal != nil {
			title = item.Refusal.Title
		}
		found[title] = item
	}
	return found
}

func TestCommitsBecomeCandidatesOrRefusals(t *testing.T) {
	r := newRepository(t)
	base := r.commit("The first commit", "a.py", "x = 1\n", "test/test_a.py", "assert 1\n", "README", "a\n")
	fix := r.commit("Count from two, not from one\n\nSee the manual.\n\nSigned-off-by: nobody", "a.py", "x = 2\n", "test/test_a.py", "assert 2\n", "test/data.txt", "2\n", "README", "b\n", "docs/a.py", "1\n")
	r.commit("Only documentation here", "README", "c\n", "docs/a.py", "2\n", "test/test_a.py", "assert 3\n")
	r.commit("Only source is changed", "a.py", "x = 3\n", "test/data.txt", "3\n")
	r.commit("Revert the change of source", "a.py", "x = 2\n", "test/test_a.py", "assert 2\n")
	r.commit("Far too many lines now", "a.py", strings.Repeat("x = 4\n", 30), "test/test_a.py", "assert 4\n")
	r.commit("Far too many files now", "a.py", "x = 5\n", "b.py", "1\n", "c.py", "1\n", "test/test_a.py", "assert 5\n")
	r.commit("A binary file is changed", "a.bin", "a\x00b", "test/test_a.py", "assert 6\n")
	r.commit("A large file is changed", "large.py", "version https://git-lfs.github.com/spec/v1\n", "test/test_a.py", "assert 7\n")
	r.commit("wip", "a.py", "x = 8\n", "test/test_a.py", "assert 8\n")
	r.commit("Say what it is\n\nNow it has value_of_everything = forty_two instead", "a.py", "value_of_everything = forty_two\n", "test/test_a.py", "assert 9\n")

	items := r.items(nil)
	want := map[string]taskbuild.Reason{
		"The first commit": taskbuild.ReasonRoot, "Only documentation here": taskbuild.ReasonNoSource, "Only source is changed": taskbuild.ReasonNoTests,
		"Revert the change of source": taskbuild.ReasonRevert, "Far too many lines now": taskbuild.ReasonTooLarge, "Far too many files now": taskbuild.ReasonTooLarge,
		"A binary file is changed": taskbuild.ReasonBinary, "A large file is changed": taskbuild.ReasonLFS, "wip": taskbuild.ReasonNoStatement, "Say what it is": taskbuild.ReasonLeak,
	}
	for title, reason := range want {
		if got := items[title].Refusal; got == nil || got.Reason != reason {
			t.Errorf("%s: %+v, want %q", title, got, reason)
		}
	}
	c := items["Count from two, not from one"].Candidate
	if len(items) != len(want)+1 || c.Base != base || c.Change != fix || c.ID != "shelf-"+fix[:12] || c.Repo != "shelf" {
		t.Errorf("%d items; %+v", len(items), c)
	}
	if c.ProblemStatement != "Count from two, not from one\n\nSee the manual." || !slices.Equal(c.TestFiles, []string{"test/test_a.py"}) {
		t.Errorf("%q, %q", c.ProblemStatement, c.TestFiles)
	}
	if strings.Count(c.Patch, "diff --git") != 1 || !strings.Contains(c.Patch, "+x = 2") || strings.Count(c.TestPatch, "diff --git") != 2 || strings.Contains(c.Patch+c.TestPatch, "README") {
		t.Errorf("patch:\n%s\ntest patch:\n%s", c.Patch, c.TestPatch)
	}
	r.git("checkout", "-q", base)
	for _, patch := range []string{c.Patch, c.TestPatch} {
		cmd := exec.Command("git", "-C", r.dir, "apply", "--check")
		cmd.Stdin = strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("git apply: %v: %s", err, out)
		}
	}
}

func TestMergesAreOneChangeEach(t *testing.T) {
	r := newRepository(t)
	base := r.commit("The first commit", "a.py", "x = 1\n")
	r.git("checkout", "-q", "-b", "topic")
	r.commit("First part of it", "a.py", "x = 2\n")
	r.commit("Second part of it", "test/test_a.py", "assert 2\n")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "Merge the whole topic", "topic")
	if items := r.items(nil); len(items) != 3 || items["First part of it"].Refusal == nil {
		t.Errorf("single commits: %v", items)
	}
	items := r.items(func(c *history.Config) { c.Merges = true })
	c := items["Merge the whole topic"].Candidate
	if len(items) != 1 || c.Base != base || c.Patch == "" || c.TestPatch == "" {
		t.Errorf("merges: %+v", items)
	}
}

func TestIssuesAreTheProblemStatements(t *testing.T) {
	r := newRepository(t)
	r.commit("The first commit", "a.py", "x = 1\n")
	one := r.commit("Count from two (#7)", "a.py", "x = 2\n", "test/test_a.py", "assert 2\n")
	r.commit("Count from three, see #70 and GH-8", "a.py", "x = 3\n", "test/test_a.py", "assert 3\n")
	r.commit("Count from four (#9)", "a.py", "x = 4\n", "test/test_a.py", "assert 4\n")
	issues, err := history.ReadIssues(strings.NewReader(`{"number": 7, "text": "by number"}` + "\n\n" + `{"commit": "` + one[:10] + `", "text": "by commit"}` + "\n" + `{"pull": 8, "title": "Wrong count", "text": "by pull"}`))
	if err != nil {
		t.Fatal(err)
	}
	items := r.items(func(c *history.Config) { c.Issues = issues })
	for title, want := range map[string]string{
		"Count from two (#7)": "by commit", "Count from three, see #70 and GH-8": "Wrong count\n\nby pull", "Count from four (#9)": "Count from four (#9)",
	} {
		if got := items[title].Candidate.ProblemStatement; got != want {
			t.Errorf("%s: %q", title, got)
		}
	}
	for text, want := range map[string]string{
		"{\"number\": 1, \"text\": \"a\"}\n{\"number\": 2}": "line 2: text", `{"text": "a"}`: "line 1: names no", `{"commit": "main", "text": "a"}`: "line 1: commit", `[]`: "line 1: is not",
	} {
		if _, err := history.ReadIssues(strings.NewReader(text)); relabel.CodeOf(err) != relabel.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestEachCommitHasTheRecipeOfItsParent(t *testing.T) {
	r := newRepository(t)
	old := r.commit("The first commit", "a.py", "x = 1\n")
	r.commit("Count from two at first", "a.py", "x = 2\n", "check/a.py", "assert 2\n")
	r.commit("Move the tests of counts", "a.py", "x = 3\n", "check/a.py", "", "test/test_a.py", "assert 3\n")
	items := r.items(func(c *history.Config) {
		c.Detect = func(_ context.Context, commit string) (taskbuild.Recipe, bool, error) {
			return taskbuild.Recipe{Name: "old", TestFiles: []string{"check/*"}, SourceFiles: []string{"*.py"}}, commit == old, nil
		}
	})
	if c := items["Count from two at first"].Candidate; c.Recipe == nil || c.Recipe.Name != "old" || !slices.Equal(c.TestFiles, []string{"check/a.py"}) {
		t.Errorf("the old recipe: %+v", c)
	}
	if c := items["Move the tests of counts"].Candidate; c.Recipe == nil || c.Recipe.Name != "" || !slices.Equal(c.TestFiles, []string{"test/test_a.py"}) {
		t.Errorf("no recipe fits, so it is that of the range: %+v", c)
	}
}

func TestSubmodulesAreRefused(t *testing.T) {
	r := newRepository(t)
	base := r.commit("The first commit", "a.py", "x = 1\n", "other.txt", "1\n")
	r.git("update-index", "--add", "--cacheinfo", "160000,"+base+",library")
	r.git("commit", "-q", "-m", "Add a library")
	write := func(content string) {
		for _, name := range []string{"a.py", "test/test_a.py"} {
			path := filepath.Join(r.dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
				t.Fatal(err)
			}
			r.git("add", name)
		}
	}
	write("x = 2\n")
	r.git("commit", "-q", "-m", "Count from two beside a library")
	write("x = 3\n")
	r.git("update-index", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",library")
	r.git("commit", "-q", "-m", "Count from three with a newer library")
	items := r.items(nil)
	if refusal := items["Count from three with a newer library"].Refusal; refusal == nil || refusal.Reason != taskbuild.ReasonSubmodule || refusal.Detail != "library" {
		t.Errorf("a change of a submodule: %+v", refusal)
	}
	if c := items["Count from two beside a library"].Candidate; c.Patch == "" {
		t.Errorf("a repository with a submodule: %+v", items)
	}
}

func TestWhatIsNoHistoryIsRefused(t *testing.T) {
	r := newRepository(t)
	r.commit("The first commit", "a.py", "x = 1\n")
	for dir, commits := range map[string]string{t.TempDir(): "HEAD", r.dir: "v9..main"} {
		if _, err := history.Open(t.Context(), history.Config{Repository: dir, Range: commits}); relabel.CodeOf(err) != relabel.CodeInvalid {
			t.Errorf("%s %s: %v", dir, commits, err)
		}
	}
}
