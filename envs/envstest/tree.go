package envstest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"relabel/envs"
)

func (s *suite) testFingerprint(t *testing.T) {
	b, _ := s.repository(t)
	first := b.fingerprint()
	seen := map[string]string{first: "the beginning"}
	for _, change := range []string{
		"echo more >>plain.txt", "chmod +x plain.txt", "touch untracked", "rm src/a.py", "ln -s plain.txt link", "git add -f untracked; echo x >untracked",
		// A change that keeps size and time is found by its content.
		"touch -d @0 -r plain.txt stamp; sed -i s/one/eno/ plain.txt; touch -r stamp plain.txt",
	} {
		b.bash(change)
		f := b.fingerprint()
		if before, ok := seen[f]; ok {
			t.Errorf("%q and %q have the same fingerprint", change, before)
		}
		seen[f] = change
	}
	last := b.fingerprint()
	b.bash("mkdir -p src/__pycache__ .pytest_cache; echo the time | tee src/__pycache__/a.cpython-311.pyc a.pyc >.pytest_cache/lastfailed")
	if b.fingerprint() != last {
		t.Error("compiled files that the repository does not ignore changed the fingerprint")
	}
	b.bash("rm -r src/__pycache__ .pytest_cache a.pyc")
	const state = "git status --porcelain; git ls-files -s; ls -A .git; find .git/objects -type f | sort"
	staged := b.bash(state)
	for _, noChange := range []string{
		"echo x >debug.log; mkdir -p built; touch built/y", "touch plain.txt", "chmod g+w plain.txt", "mkdir -p empty",
	} {
		b.bash(noChange)
		if b.fingerprint() != last {
			t.Errorf("%q changed the fingerprint", noChange)
		}
	}
	if now := b.bash(state); now != staged {
		t.Errorf("taking fingerprints changed the repository from\n%s\nto\n%s", staged, now)
	}
	b.bash("git reset -q; git stash -q -u; rm -f .git/index.lock; touch .git/index.lock")
	if b.fingerprint() != first {
		t.Error("the restored tree has another fingerprint")
	}
	b.bash("rm -rf .git")
	walked := b.fingerprint()
	b.bash("echo x >>plain.txt")
	b.changed(walked, "a change without a repository")
}

func (s *suite) testPatch(t *testing.T) {
	b, base := s.repository(t)
	if p := b.patch(base); len(p.Diff) != 0 || p.Dropped != nil {
		t.Errorf("the patch of no change is %q without %v", p.Diff, p.Dropped)
	}
	b.bash(`set -e
sed -i s/two/TWO/ plain.txt; printf 'one\r\nzwei\r\n' >dos.txt; printf '\3' >>data.bin; printf '\0x' >new.bin
printf 'no newline at the end' >'new file'; rm src/a.py; mkdir -p nested/deep built; touch built/x a.log
echo 'caf\303\251' >"$(printf 'caf\303\251')"
git -C nested init -q; echo inside >nested/deep/file; (cd nested; git add -A; git -c user.name=a -c user.email=a@invalid commit -q -m x)
git commit -q -a -m 'a commit of the agent'; ln -s plain.txt link; chmod +x plain.txt`)
	p := b.patchWith(base, "-two\n+TWO\n", "-two\r\n+zwei\r\n", "+inside\n", "new mode 100755", "deleted file mode",
		"+no newline at the end\n\\ No newline at end of file\n", "new file mode 120000")
	if !slices.Equal(p.Dropped, []string{"data.bin", "new.bin"}) {
		t.Errorf("excluded: %v", p.Dropped)
	}
	diff := string(p.Diff)
	for _, not := range []string{"built/x", "a.log", ".bin", "Subproject"} {
		if strings.Contains(diff, not) {
			t.Errorf("the patch contains %q", not)
		}
	}
	if string(b.patch("").Diff) != diff {
		t.Error("a second patch, against HEAD at start, differs")
	}
	tree := b.bash(`rm -f data.bin new.bin; git show ` + base + `:data.bin >data.bin; git add -A; git write-tree`)
	b.write("../submission.patch", diff)
	if got := b.bash(`git reset -q --hard ` + base + ` && git clean -qfdx && git apply ../submission.patch && git add -A && git write-tree`); got != tree {
		t.Errorf("applied to the base commit, the patch gives the tree %s, not %s", got, tree)
	}
}

func (s *suite) testHostileRepository(t *testing.T) {
	b, base := s.repository(t)
	b.bash(`set -e
echo changed >>plain.txt
printf '#!/bin/sh\ntouch %s/hacked\n' "$PWD/.." >../evil; chmod +x ../evil
evil=$(cd ..; pwd)/evil
git config diff.external "$evil"; git config core.fsmonitor "$evil"; git config core.hooksPath "$(cd ..; pwd)"; git config diff.noprefix true
git config core.attributesFile /dev/null; git config core.excludesFile ../all; echo '*' >../all; git config color.diff always
git config filter.x.clean "$evil"; git config filter.x.required true; git config diff.x.textconv "$evil"; git config diff.x.command "$evil"
git config core.autocrlf true; git config core.quotePath false; git config core.worktree /; git config core.bare true; git config diff.orderFile /nowhere
echo '*.txt filter=x diff=x' >.gitattributes; echo '*.py -diff' >>.gitattributes; echo 'y = 2' >>src/a.py
touch .git/index.lock .git/HEAD.lock; printf broken >.git/index`)
	p := b.patchWith(base, "--- a/plain.txt\n+++ b/plain.txt\n", "+changed\n", "+y = 2\n", "+*.txt filter=x diff=x\n")
	if strings.Contains(string(p.Diff), "dos.txt") || p.Dropped != nil {
		t.Errorf("the patch contains an unchanged file, or excludes %v:\n%s", p.Dropped, p.Diff)
	}
	if f := b.fingerprint(); !strings.HasPrefix(f, "git:") {
		t.Errorf("fingerprint %s", f)
	}
	b.bash("test ! -e ../hacked")
	b.bash("mkdir -p odd; GIT_DIR=odd/.git GIT_WORK_TREE=odd git -c core.bare=false init -q odd; touch odd/file")
	b.fingerprint() // must not fail because of a nested repository without a commit
	b.patchWith(base, "odd/file")
	b.bash("rm -rf .git")
	if _, err := b.Patch(t.Context(), base); !errors.Is(err, envs.ErrNoRepository) {
		t.Errorf("without a repository: %v", err)
	}
}
