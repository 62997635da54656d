package localise

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/codeindex"
	"relabel/tasks"
)

const functions = "def a():\n    return 1\n\n\ndef b():\n    return 1\n"

// changed has another line in one function.
func changed(content, function string) string {
	return strings.Replace(content, "def "+function+"():\n    return 1", "def "+function+"():\n    return 2", 1)
}

func TestGoldIsOfTheBase(t *testing.T) {
	w := newWorld(t)
	renamed, moved := functions+strings.Repeat("renamed()\n", 10), functions+strings.Repeat("moved()\n", 10)
	base := w.commit(map[string]string{
		"changed.py": functions, "renamed.py": renamed, "moved.py": moved, "deleted.py": "def a():\n    # the end\n    def b():\n        pass\n", "comment.py": "# a\n" + functions, "module.py": "x = 1\n",
		"ü b.py": functions, "crlf.py": strings.ReplaceAll(functions, "\n", "\r\n"), "noend.py": strings.TrimSuffix(functions, "\n"), "main.go": "package a\n\nfunc F() {\n\tf()\n}\n",
		"tests/t.py": functions, "README.md": "x\n", "binary.py": "a\x00b\n", "empty.py": "", "notutf8.py": "# \xff\n" + functions, "python2.py": functions + "\nprint 1\n",
	})
	head := w.commit(map[string]string{
		"changed.py": changed(functions, "a"), "new name.py": changed(renamed, "b"), "other/moved.py": moved, "comment.py": "# b\n" + functions, "module.py": "x = 2\n",
		"ü b.py": changed(functions, "b"), "crlf.py": strings.ReplaceAll(changed(functions, "a"), "\n", "\r\n"), "noend.py": changed(functions, "b"), "main.go": "package a\n\nfunc F() {\n\tg()\n}\n",
		"tests/t.py": changed(functions, "a"), "README.md": "y\n", "binary.py": "a\x00c\n", "added.py": "def c():\n    pass\n\n\nclass D:\n    def e(self):\n        pass\n",
		"notutf8.py": "# \xff\n" + changed(functions, "a"), "python2.py": changed(functions, "a") + "\nprint 1\n",
	})
	r := w.build(pair(base, head))
	if r.Made != 1 {
		t.Fatalf("%+v", r)
	}
	got := r.Tasks[0]
	wantFiles := []string{"changed.py", "crlf.py", "deleted.py", "empty.py", "main.go", "module.py", "moved.py", "noend.py", "notutf8.py", "python2.py", "renamed.py", "ü b.py"}
	wantFunctions := []string{"changed.py::a", "crlf.py::a", "deleted.py::a", "deleted.py::a.b", "main.go::F", "noend.py::b", "notutf8.py::a", "python2.py::a", "renamed.py::b", "ü b.py::b"}
	if !slices.Equal(got.GoldFiles, wantFiles) || !slices.Equal(got.GoldFunctions, wantFunctions) {
		t.Errorf("gold is\n%q\n%q", got.GoldFiles, got.GoldFunctions)
	}
	if r.AddedFunctions != 2 || r.Languages[codeindex.Go] != (LanguageCount{1, 1, 1}) || r.Languages[codeindex.Python] != (LanguageCount{1, 11, 9}) {
		t.Errorf("%+v", r)
	}
	w.checkPatch(base, head, r)
	w.checkReadAgain(r)
}

// checkPatch builds the same from git's diff.
func (w *world) checkPatch(base, head string, want Result) {
	w.t.Helper()
	p := pair(base, "")
	p.Patch = w.git("diff", "-M", base, head)
	p.InstanceID = want.Tasks[0].InstanceID
	if r := w.build(p); !reflect.DeepEqual(r, want) {
		w.t.Errorf("with the patch it is %+v, not %+v", r, want)
	}
}

// checkReadAgain reads the tasks as they are written, and checks them against the mirror.
func (w *world) checkReadAgain(r Result) {
	w.t.Helper()
	var out bytes.Buffer
	must(w.t, Write(&out, r.Tasks))
	file, err := tasks.Read(bytes.NewReader(out.Bytes()), tasks.FormatAuto)
	must(w.t, err)
	if !reflect.DeepEqual(file.Tasks, r.Tasks) {
		w.t.Errorf("read are %+v, not %+v", file.Tasks, r.Tasks)
	}
	for _, task := range file.Tasks {
		if problems, err := Check(context.Background(), w, task); err != nil || problems != nil {
			w.t.Errorf("%v, %v", problems, err)
		}
	}
}

func TestEachFilterCountsWhatItDrops(t *testing.T) {
	w := newWorld(t)
	files := map[string]string{"a.py": functions, "test_a.py": functions, "README.md": "x\n"}
	base := w.commit(files)
	with := func(name, content string) string {
		t.Helper()
		w.git("checkout", "-q", "-B", "topic-"+strings.ReplaceAll(name, ".", "-")+fmt.Sprint(len(content)), base)
		all := map[string]string{}
		for n, c := range files {
			all[n] = c
		}
		all[name] = content
		return w.commit(all)
	}
	good := with("a.py", changed(functions, "a"))
	named := func(p tasks.Pair, id string) tasks.Pair {
		p.InstanceID = id
		return p
	}
	other, short, patched, gone := pair(base, good), pair(base, good), pair(base, ""), pair(base, "")
	other.Repository = "owner/other"
	short.Issue = " " + strings.Repeat("ü", 99) + "\n"
	patched.Patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-def x():\n+def y():\n"
	gone.Patch = "--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n-def x():\n+def y():\n"
	excluded := pair(base, good)
	excluded.Repository = "Evil/Repo"
	long := pair(base, good)
	long.Issue = strings.Repeat("ü", 100)
	pairs := []tasks.Pair{
		named(pair(base, good), "good"), named(long, "long"), named(excluded, "e1"), named(pair(base, good), "evil__one-1"), named(pair(base, good), "good"),
		named(short, "short"), named(other, "other"), named(pair(object(1), good), "c1"), named(pair(base, object(2)), "c2"),
		named(patched, "p1"), named(gone, "p2"), named(pair(base, with("README.md", "y\n")), "doc"), named(pair(base, base), "same"),
		named(pair(base, with("test_a.py", changed(functions, "a"))), "tests"), named(pair(base, with("b.py", functions)), "new"), named(pair(base, with("a.py", "# a\n"+functions)), "comment"),
	}
	exclude := &Exclusions{}
	must(t, exclude.Read(strings.NewReader("# not these\n\nevil/repo\nevil__one-1\r\n")))
	b := Builder{Repositories: w, Exclude: exclude}
	r, err := b.Build(context.Background(), Candidates(pairs))
	must(t, err)
	var got []string
	for _, d := range r.Dropped {
		got = append(got, fmt.Sprint(d.InstanceID, " ", d.Reason))
	}
	want := []string{"e1 excluded", "evil__one-1 excluded", "good duplicate", "short short_issue", "other no_mirror", "c1 no_commit", "c2 no_commit", "p1 not_applied", "p2 not_applied",
		"doc non_code", "same non_code", "tests tests_only", "new no_gold", "comment no_gold"}
	if !slices.Equal(got, want) {
		t.Errorf("dropped are %q", got)
	}
	wantCounts := map[Reason]int{Excluded: 2, Duplicate: 1, ShortIssue: 1, NoMirror: 1, NoCommit: 2, NotApplied: 2, NonCode: 2, TestsOnly: 1, NoGold: 2}
	if !reflect.DeepEqual(r.Counts, wantCounts) || r.Candidates != len(pairs) || r.Made != 2 || r.Tasks[0].InstanceID != "good" || r.Tasks[1].InstanceID != "long" {
		t.Errorf("%+v", r)
	}
	for _, reason := range Reasons {
		if wantCounts[reason] == 0 || reason.Text() == "" {
			t.Errorf("%s is not tested, or has no text", reason)
		}
	}
}

func TestPairsWithoutAnInstanceIDGetOne(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions})
	head := w.commit(map[string]string{"a.py": changed(functions, "a")})
	numbered, again, otherIssue, bare := pair(base, head), pair(base, head), pair(base, head), pair(base, head)
	numbered.PullNumber, again.PullNumber, otherIssue.PullNumber = 7, 7, 7
	otherIssue.Issue += "More."
	pairs := []tasks.Pair{numbered, again, otherIssue, bare, bare}
	r := w.build(pairs...)
	var ids []string
	for _, task := range r.Tasks {
		ids = append(ids, task.InstanceID)
	}
	c := Candidates([]tasks.Pair{bare})[0]
	d := Candidate{Pair: otherIssue}
	want := []string{"owner__name-7", "owner__name-7-" + d.digest(), "owner__name-" + c.digest()}
	if !slices.Equal(ids, want) || r.Counts[Duplicate] != 2 || len(c.digest()) != 12 {
		t.Errorf("%q, not %q: %+v", ids, want, r.Counts)
	}
	w.checkReadAgain(r)
}

func TestAGivenIDIsNotGivenAgain(t *testing.T) {
	first, second := pair(object(1), object(2)), pair(object(1), object(2))
	first.PullNumber = 7
	second.InstanceID = "owner__name-7"
	all := Candidates([]tasks.Pair{first, second})
	if all[0].InstanceID != "owner__name-7-"+all[0].digest() || all[0].duplicate || all[1].duplicate {
		t.Errorf("%+v", all)
	}
}

func TestSymlinksSubmodulesAndBadPathsAreNoGold(t *testing.T) {
	w := newWorld(t)
	commit := func(target, content string) string {
		t.Helper()
		w.git("rm", "-rq", "--ignore-unmatch", ".")
		must(t, os.Symlink(target, filepath.Join(w.tree, "link.py")))
		for _, name := range []string{"bad\n.py", "a::b.py", "`a`.py", "good.py"} {
			must(t, os.WriteFile(filepath.Join(w.tree, name), []byte(content), 0o644))
		}
		w.git("add", "-A")
		w.git("update-index", "--add", "--cacheinfo", "160000,"+object(byte(len(target)))+",sub.py")
		return w.commitIndex()
	}
	base := commit("a", functions)
	head := commit("bc", changed(functions, "a"))
	r := w.build(pair(base, head))
	if r.Made != 1 || !slices.Equal(r.Tasks[0].GoldFiles, []string{"good.py"}) || !slices.Equal(r.Tasks[0].GoldFunctions, []string{"good.py::a"}) {
		t.Errorf("%+v", r)
	}
	w.checkPatch(base, head, r)
}

func TestHugeFilesAreGoldWithoutFunctions(t *testing.T) {
	w := newWorld(t)
	huge := strings.Repeat("x = '0123456789'\n", 9<<20/17) + functions
	base := w.commit(map[string]string{"huge.py": huge, "a.py": functions})
	head := w.commit(map[string]string{"huge.py": changed(huge, "a"), "a.py": changed(functions, "b")})
	r := w.build(pair(base, head))
	if r.Made != 1 || !slices.Equal(r.Tasks[0].GoldFiles, []string{"a.py", "huge.py"}) || !slices.Equal(r.Tasks[0].GoldFunctions, []string{"a.py::b"}) {
		t.Errorf("%+v", r)
	}
}

func TestACopyIsNew(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions})
	p := pair(base, "")
	p.Patch = "diff --git a/a.py b/b.py\nsimilarity index 90%\ncopy from a.py\ncopy to b.py\n--- a/a.py\n+++ b/b.py\n@@ -1,2 +1,2 @@\n def a():\n-    return 1\n+    return 2\n"
	if r := w.build(p); r.Counts[NoGold] != 1 {
		t.Errorf("%+v", r)
	}
}

func TestADeletionWithoutItsLinesIsGoldWithAllFunctions(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions})
	p := pair(base, "")
	p.Patch = "diff --git a/a.py b/a.py\ndeleted file mode 100644\nindex 1..0\n"
	if r := w.build(p); r.Made != 1 || !slices.Equal(r.Tasks[0].GoldFunctions, []string{"a.py::a", "a.py::b"}) {
		t.Errorf("%+v", r)
	}
}

func TestTheOldPathSaysWhatIsATest(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions, "tests/b.py": strings.Repeat("b()\n", 10)})
	head := w.commit(map[string]string{"tests/a.py": functions, "b.py": strings.Repeat("b()\n", 10)})
	if r := w.build(pair(base, head)); r.Made != 1 || !slices.Equal(r.Tasks[0].GoldFiles, []string{"a.py"}) {
		t.Errorf("%+v", r)
	}
}

func TestTasksToRepairBecomeTasksToLocalise(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions})
	w.commit(map[string]string{"a.py": changed(functions, "b")})
	repair := relabel.Task{InstanceID: "x", Repo: "owner/name", BaseCommit: base, ProblemStatement: longIssue, HintsText: "hint", Patch: w.git("diff", "HEAD~1", "HEAD")}
	b := Builder{Repositories: w, Exclude: &Exclusions{}}
	r, err := b.Build(context.Background(), FromTasks([]relabel.Task{repair}))
	must(t, err)
	want := relabel.Task{Kind: relabel.Localise, InstanceID: "x", Repo: "owner/name", BaseCommit: base, ProblemStatement: longIssue, HintsText: "hint", GoldFiles: []string{"a.py"}, GoldFunctions: []string{"a.py::b"}}
	if r.Made != 1 || !reflect.DeepEqual(r.Tasks[0], want) {
		t.Errorf("%+v", r)
	}
	repair.Repo = "name"
	r, err = b.Build(context.Background(), FromTasks([]relabel.Task{repair}))
	if err != nil || len(r.Dropped) != 1 || r.Dropped[0].Detail != `"name" is not owner/name` {
		t.Errorf("without an owner: %+v, %v", r, err)
	}
}

func TestWhatAMirrorContradictsIsNamed(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions + "class K:\n    x = 1\n", "tests/a.py": functions, "README.md": ""})
	task := relabel.Task{Repo: "owner/name", BaseCommit: base, GoldFiles: []string{"a.py", "b.py", "README.md", "tests/a.py"}, GoldFunctions: []string{"a.py::a", "a.py::c", "a.py::K", "b.py::d"}}
	problems, err := Check(context.Background(), w, task)
	want := []string{"gold_files: the base has no b.py", "gold_files: README.md is no source file of the index", "gold_files: tests/a.py is a file of tests", "gold_functions: a.py has no function c", "gold_functions: a.py has no function K"}
	if err != nil || !slices.Equal(problems, want) {
		t.Errorf("%q, %v", problems, err)
	}
	for name, task := range map[string]relabel.Task{
		"there is no mirror of owner/other": {Repo: "owner/other", BaseCommit: base}, "no commit": {Repo: "owner/name", BaseCommit: object(1)},
	} {
		problems, err := Check(context.Background(), w, task)
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0], name) {
			t.Errorf("%q, %v", problems, err)
		}
	}
}

func TestExclusionsAreReadOrRefused(t *testing.T) {
	for text, want := range map[string]string{
		"": "names no repository", "# a\n\n": "names no repository", "a/b\nc d\n": "line 2: ", "a/b/c": "line 1: ", "https://github.com/a/b": "line 1: ",
		"\ufeffa/b\r\nx__y-1\n": "", "A.b/c-d_e": "",
	} {
		err := new(Exclusions).Read(strings.NewReader(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAnExcludedPullRequestExcludesAllItsIssues(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions})
	first := pair(base, w.commit(map[string]string{"a.py": changed(functions, "b")}))
	first.PullNumber = 7
	second, named, other := first, first, first
	second.Issue += " And more."
	named.InstanceID = "mine"
	other.PullNumber = 8
	exclude := &Exclusions{}
	must(t, exclude.Read(strings.NewReader("owner__name-7\n")))
	b := Builder{Repositories: w, Exclude: exclude}
	r, err := b.Build(context.Background(), Candidates([]tasks.Pair{first, second, named, other}))
	if err != nil || r.Counts[Excluded] != 3 || r.Made != 1 || r.Tasks[0].InstanceID != "owner__name-8" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestACancelledBuildFails(t *testing.T) {
	w := newWorld(t)
	base := w.commit(map[string]string{"a.py": functions})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	b := Builder{Repositories: w, Exclude: &Exclusions{}}
	if r, err := b.Build(ctx, Candidates([]tasks.Pair{pair(base, base)})); err == nil || r.Candidates != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
