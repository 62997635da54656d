package envs_test

import (
	"testing"

	"relabel"
	"relabel/envs"
	"relabel/envs/envstest"
)

// smithSetup makes a repository without a bug, with copies of a file in build folders and from an editor.
const smithSetup = `set -e
git init -q -b main . && git config user.name nobody && git config user.email nobody@invalid
echo build/ >.gitignore; mkdir pkg; touch pkg/__init__.py; printf 'first\nTHE-FIX\n' >'pkg/the code.py'; git add -A; git commit -q -m base; git tag v1; git gc -q
mkdir -p build/lib/pkg; cp pkg/* build/lib/pkg/; cp 'pkg/the code.py' 'pkg/the code.py~'; echo other >build/code.py`

const smithPatch = "diff --git a/pkg/the code.py b/pkg/the code.py\n--- a/pkg/the code.py\t\n+++ b/pkg/the code.py\t\n@@ -1,2 +1,2 @@\n first\n-THE-FIX\n+a bug\n"

func TestAfterAStartPatchTheCodeBeforeItCannotBeFound(t *testing.T) {
	sandbox := newSandbox(t)
	bash(t, sandbox, smithSetup)
	if err := envs.ApplyStartPatch(t.Context(), sandbox, relabel.Task{Workdir: envstest.Workdir, StartPatch: smithPatch}); err != nil {
		t.Fatal(err)
	}
	if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, "HEAD"); err != nil {
		t.Fatal(err)
	}
	const find = `git log --all --oneline | wc -l; grep -rl THE-FIX . || true; git cat-file --batch-all-objects --batch --unordered | grep -a -c THE-FIX || true; cat pkg/*.py; find build -type f | sort`
	const want = "1\n0\nfirst\na bug\nbuild/code.py\nbuild/lib/pkg/__init__.py"
	if got := bash(t, sandbox, find); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
