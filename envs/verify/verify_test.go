package verify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
)

func (b *bench) verify(patch []byte) relabel.Verdict {
	b.t.Helper()
	v, err := New(b.host).Verify(context.Background(), b.task, relabel.NewID(), 1, limits, patch)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// expect verifies the edits and compares the verdict.
func (b *bench) expect(reason relabel.VerdictReason, edits ...func(*bench)) relabel.Verdict {
	b.t.Helper()
	v := b.verify(b.patch(edits...))
	if v.Infra != "" || v.Reason != reason || v.Passed != (reason == relabel.VerdictTestsPassed) {
		b.t.Errorf("resolved %v, reason %q, infra %q, tests %v\n%s", v.Passed, v.Reason, v.Infra, v.Tests, v.Output)
	}
	return v
}

// file is an edit that writes a file.
func file(name, content string) func(*bench) {
	return func(b *bench) { b.write(name, content) }
}

// inCalc is an edit that puts code at the top of the module under test, which is wrong
// still.
func inCalc(code string) func(*bench) { return file("calc.py", code+"\n\n"+repository["calc.py"]) }

func TestTheGoldPatchIsResolved(t *testing.T) {
	b := newBench(t)
	v := b.expect(relabel.VerdictTestsPassed, gold)
	if len(v.Tests) != 3 || v.Tests["tests/test_add.py::test_add"] != relabel.TestPassed || v.At.IsZero() || !strings.Contains(string(v.Output), "PASSED tests/test_sub.py::test_sub") {
		t.Errorf("%+v", v)
	}
}

func TestASubmissionThatChangesNothingIsNotResolved(t *testing.T) {
	v := newBench(t).expect(relabel.VerdictTests, file("README", "hello\n"))
	want := map[string]relabel.TestStatus{
		"tests/test_add.py::test_add": relabel.TestFailed, "tests/test_add.py::test_zero": relabel.TestPassed, "tests/test_sub.py::test_sub": relabel.TestPassed,
	}
	for id, status := range want {
		if v.Tests[id] != status {
			t.Errorf("%s is %s, want %s", id, v.Tests[id], status)
		}
	}
}

func TestTheTestsStartFromTheBaseCommitWhateverTheImagesHeadIs(t *testing.T) {
	b := newBench(t, gold, func(b *bench) { b.git("commit", "-q", "-a", "-m", "the fix") })
	b.expect(relabel.VerdictTests, file("README", "hello\n"))
	b.expect(relabel.VerdictTestsPassed, gold)
}

func TestAnEmptyPatchNeedsNoContainer(t *testing.T) {
	b := newBench(t)
	b.task.Image = "relabel/there-is-no-such-image"
	if v := b.verify([]byte("\n")); v.Reason != relabel.VerdictEmptyPatch || v.Passed || v.Infra != "" {
		t.Errorf("%+v", v)
	}
}

func TestBreakingAnotherTestIsNotResolved(t *testing.T) {
	v := newBench(t).expect(relabel.VerdictTests, file("calc.py", strings.ReplaceAll(repository["calc.py"], "-", "+")))
	if v.Tests["tests/test_sub.py::test_sub"] != relabel.TestFailed || v.Tests["tests/test_add.py::test_add"] != relabel.TestPassed {
		t.Errorf("%v", v.Tests)
	}
}

func TestOnlyATasksOwnPatchIsAppliedWithFuzz(t *testing.T) {
	b := newBench(t)
	patch := strings.Replace(string(b.patch(gold)), " def add(a, b):\n", " def add(one, two):\n", 1)
	if v := b.verify([]byte(patch)); v.Reason != relabel.VerdictDoesNotApply || v.Infra != "" {
		t.Errorf("%+v\n%s", v, v.Output)
	}
	b.task.Patch = patch
	if r, err := New(b.host).Validate(context.Background(), b.task, limits, 1); err != nil || !r.Sound() {
		t.Errorf("as the gold patch: %+v %v", r, err)
	}
}

// TestAPatchThatGitCannotReadIsRefused holds the ways in which a patch meant one thing to
// git and another to a reader of its text.
func TestAPatchThatGitCannotReadIsRefused(t *testing.T) {
	b := newBench(t)
	const plant = "--- /dev/null\n+++ b/tests/conftest.py\n@@ -0,0 +1 @@\n+x = 1\n"
	for name, patch := range map[string]string{
		"indented":       "  " + strings.ReplaceAll(plant, "\n", "\n  "),
		"no patch":       "import os\n",
		"a dot":          strings.ReplaceAll(plant, "b/tests", "b/./tests"),
		"two slashes":    strings.ReplaceAll(plant, "b/tests", "b//tests"),
		"a context diff": "*** calc.py\n--- calc.py\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
	} {
		if v := b.verify([]byte(patch)); v.Reason != relabel.VerdictUnsafe || v.Infra != "" {
			t.Errorf("%s: reason %q, infra %q\n%s", name, v.Reason, v.Infra, v.Output)
		}
	}
}

func TestDroppedPathsAreNamedInTheVerdict(t *testing.T) {
	b := newBench(t)
	v := b.expect(relabel.VerdictTestsPassed, gold, file("tests/more.py", ""), file("argparse.py", "x = 1\n"), file("zz-1.0.dist-info/METADATA", "Name: zz\n"), file("types/core.py", ""))
	want := map[string]bool{"tests/more.py": true, "argparse.py": true, "zz-1.0.dist-info/METADATA": true}
	for _, d := range v.Dropped {
		if !want[d.Path] || d.Reason == "" {
			t.Errorf("dropped %+v", d)
		}
	}
	if len(v.Dropped) != len(want) || v.DroppedCount != len(want) || v.Protections != relabel.ProtectionsVersion {
		t.Errorf("%d of %d, protections %d", len(v.Dropped), v.DroppedCount, v.Protections)
	}
}

func TestAPatchThatDoesNotApplyIsReported(t *testing.T) {
	b := newBench(t)
	patch := "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n-no such line\n+x\n nor this\n"
	if v := b.verify([]byte(patch)); v.Reason != relabel.VerdictDoesNotApply || v.Infra != "" {
		t.Errorf("%+v", v)
	}
}

func TestAPatchThatLeavesTheRepositoryIsRefused(t *testing.T) {
	b := newBench(t)
	patch := "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n"
	if v := b.verify([]byte(patch)); v.Reason != relabel.VerdictUnsafe || v.Infra != "" {
		t.Errorf("%+v", v)
	}
}

func TestCodeThatCannotBeImportedIsTheSubmissionsDoing(t *testing.T) {
	newBench(t).expect(relabel.VerdictTests, file("calc.py", "def add(:\n"))
}

func TestALogWithoutTestsIsHeldAgainstTheSubmissionWhereTheGoldPatchHasOne(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd = "python3 -c 'import calc' && " + b.task.TestCmd
	b.expect(relabel.VerdictUnfinished, file("calc.py", "def add(:\n"))
}

func TestTestsThatRunTooLongHaveFailed(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd = "sleep 600"
	v, err := New(b.host).Verify(context.Background(), b.task, relabel.NewID(), 1, relabel.RunLimits{VerifySeconds: 1}, b.patch(gold))
	if err != nil || v.Reason != relabel.VerdictTimedOut || v.Infra != "" || v.Passed {
		t.Errorf("%+v %v", v, err)
	}
}

func TestAnEnvironmentThatRunsNoTestsIsAnInfrastructureError(t *testing.T) {
	b := newBench(t)
	for _, command := range []string{"exit 3", "kill -9 $$", "no-such-program"} {
		b.task.TestCmd = command
		if v := b.verify(b.patch(gold)); v.Infra == "" || v.Passed || v.Tests != nil {
			t.Errorf("%s: %+v", command, v)
		}
	}
}

func TestATaskThatCannotBeVerifiedIsAnInfrastructureError(t *testing.T) {
	good := newBench(t)
	patch := good.patch(gold)
	for name, spoil := range map[string]func(*relabel.Task){
		"test patch":   func(t *relabel.Task) { t.TestPatch = strings.Replace(testPatch, "add(1, 0)", "add(9, 9)", 1) },
		"parser":       func(t *relabel.Task) { t.LogParser = "no_such_parser" },
		"base commit":  func(t *relabel.Task) { t.BaseCommit = strings.Repeat("0", 40) },
		"no test":      func(t *relabel.Task) { t.FailToPass = nil },
		"no workplace": func(t *relabel.Task) { t.Image = "relabel/there-is-no-such-image" },
	} {
		b := *good
		spoil(&b.task)
		if v := b.verify(patch); v.Infra == "" || v.Passed {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// Git reads a section whose first line names one path; gitdiff does not.
func TestATaskWithAPatchThatOnlyGitReadsIsAnInfrastructureError(t *testing.T) {
	good := newBench(t)
	patch := good.patch(gold)
	for want, spoil := range map[string]func(*relabel.Task){
		"the task's test_patch is not a complete diff": func(t *relabel.Task) { t.TestPatch = "diff --git a/x\n" + plainDiff(testPatch) },
		"the task's patch is not a complete diff":      func(t *relabel.Task) { t.Patch = "diff --git a/x\n" + plainDiff(t.Patch) },
	} {
		b := *good
		spoil(&b.task)
		if v := b.verify(patch); !strings.Contains(v.Infra, want) || v.Passed || v.Reason != "" {
			t.Errorf("infra %q, reason %q, want %q", v.Infra, v.Reason, want)
		}
	}
}

// plainDiff is a diff from its first "---" line on.
func plainDiff(diff string) string { return diff[strings.Index(diff, "--- "):] }

func TestMissingPartsOfTheImageAreNamed(t *testing.T) {
	good := newBench(t)
	for want, spoil := range map[string]func(*relabel.Task){
		"in " + good.task.Workdir + " at ffff": func(t *relabel.Task) { t.BaseCommit = strings.Repeat("f", 40) },
		"no commit ffff":                       func(t *relabel.Task) { t.BaseCommit = strings.Repeat("f", 40) },
		"in /nowhere at HEAD":                  func(t *relabel.Task) { t.Workdir, t.BaseCommit = "/nowhere", "" },
		"not a git repository":                 func(t *relabel.Task) { t.Workdir = "/nowhere" },
	} {
		b := *good
		spoil(&b.task)
		if v := b.verify([]byte(b.task.Patch)); !strings.Contains(v.Infra, want) {
			t.Errorf("it does not say %q: %s", want, v.Infra)
		}
	}
}

func TestWarningsOfGitAreNotPartOfATree(t *testing.T) {
	b := newBench(t, func(b *bench) {
		b.git("commit", "-q", "--allow-empty", "-m", "later")
		b.write(".git/hooks/post-checkout", "#!/bin/sh\necho a hook speaks >&2\n")
		if err := os.Chmod(filepath.Join(b.dir, ".git/hooks/post-checkout"), 0o755); err != nil {
			b.t.Fatal(err)
		}
	})
	b.expect(relabel.VerdictTestsPassed, gold, file("tests/test_sub.py", "def test_sub():\n    pass\n"))
}

func TestACancelledVerificationIsAnErrorAndNoVerdict(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if v, err := New(b.host).Verify(ctx, b.task, relabel.NewID(), 1, limits, b.patch(gold)); err == nil {
		t.Errorf("%+v", v)
	}
}

func TestValidate(t *testing.T) {
	b := newBench(t)
	v := New(b.host)
	r, err := v.Validate(context.Background(), b.task, limits, 2)
	if err != nil || !r.Sound() || r.Passes(relabel.GoldPatch) != "2/2" || r.Passes(relabel.EmptyPatch) != "0/2" || r.Seconds() <= 0 || len(r.Flaky) > 0 {
		t.Errorf("a good task: %+v %v", r, err)
	}
	if empty := r.Of(relabel.EmptyPatch)[0]; empty.NotPassed != 1 || len(empty.Tests) != 1 || empty.LogBytes == 0 {
		t.Errorf("the tests were not run without the patch: %+v", empty)
	}
	for reason, spoil := range map[relabel.ProblemReason]func(*relabel.Task){
		relabel.ProblemGold:         func(t *relabel.Task) { t.FailToPass = []string{"tests/test_add.py::test_other"} },
		relabel.ProblemWithoutPatch: func(t *relabel.Task) { t.FailToPass = t.PassToPass },
		relabel.ProblemNoGold:       func(t *relabel.Task) { t.Patch = "" },
		relabel.ProblemNoTest:       func(t *relabel.Task) { t.FailToPass = nil },
		relabel.ProblemPatch:        func(t *relabel.Task) { t.Patch = "diff --git a/x b/x\n" },
		relabel.ProblemNotRun:       func(t *relabel.Task) { t.TestCmd = "exit 9" },
	} {
		task := b.task
		spoil(&task)
		if r, err := v.Validate(context.Background(), task, limits, 1); err != nil || r.State != relabel.TaskBroken || r.Reason != reason {
			t.Errorf("%s: %+v %v", reason, r, err)
		}
	}
}

func TestATaskWhoseTestsCannotStartWithoutThePatchIsValid(t *testing.T) {
	b := newBench(t)
	b.task.TestCmd = "python3 -c 'import calc, sys; sys.exit(calc.add(1, 1) != 2)' && " + b.task.TestCmd
	if r, err := New(b.host).Validate(context.Background(), b.task, limits, 1); err != nil || !r.Sound() {
		t.Errorf("%+v %v", r, err)
	}
}
