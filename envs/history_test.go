package envs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
	"relabel/envs/envstest"
	"relabel/envs/faketest"
)

// repositorySetup makes a repository whose fix is a later commit than base, and prints
// base's id. Ignored, untracked and built files lie beside.
const repositorySetup = `set -e
git init -q -b main . && git config user.name nobody && git config user.email nobody@invalid
echo built/ >.gitignore; echo old >code.py; echo base-only >gone-later.py; git add -A; git commit -q -m 'an ancestor'
echo bug >code.py; git commit -q -a -m base; base=$(git rev-parse HEAD)
mkdir built; echo so >built/lib.so; echo note >untracked.txt
echo THE-FIX >code.py; git rm -q gone-later.py; echo new >added-later.py; git add added-later.py; git commit -q -a -m 'the fix'
echo $base`

// findFix looks for the fix in every place; if it is in none it prints zeros.
const findFix = `git log --all --reflog --oneline | grep -c 'the fix'
git cat-file --batch-all-objects --batch --unordered --buffer | grep -a -c THE-FIX
git for-each-ref | grep -v refs/heads/main
git remote; git stash list; git reflog; git tag
ls .git | grep -E 'ORIG_HEAD|FETCH_HEAD|logs|worktrees'
true`

func newSandbox(t *testing.T) envs.Sandbox {
	t.Helper()
	sandbox, err := dockertest.NewHost(t).Create(t.Context(), envs.Spec{
		Name: "relabel-test-" + uuid.NewString(), Image: envstest.Image(t), Workdir: envstest.Workdir, Labels: envs.Labels{Purpose: "rollout"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return sandbox
}

func bash(t *testing.T, sandbox envs.Sandbox, script string) string {
	t.Helper()
	result, err := sandbox.Run(t.Context(), envs.Command{Args: []string{"bash", "-c", script}, Timeout: time.Minute})
	if err != nil || result.Exit != 0 || result.Ended != envs.EndedExit {
		t.Fatalf("%s: %v, exit %d, %s: %s", script, err, result.Exit, result.Ended, result.Output)
	}
	return strings.TrimSpace(string(result.Output))
}

func TestLaterHistoryCannotBeFound(t *testing.T) {
	for name, arrange := range map[string]string{
		"a later commit":           `true`,
		"a branch":                 `git branch later; git reset -q --hard $BASE`,
		"a tag":                    `git tag -a v2 -m 'the fix, tagged'; git reset -q --hard $BASE; git update-ref -d ORIG_HEAD`,
		"the reflog":               `git reset -q --hard $BASE`,
		"a stash":                  `git reset -q --hard $BASE; echo THE-FIX >code.py; git stash -q; git reflog expire --expire=now --all 2>/dev/null; true`,
		"packed, kept, with a map": `git branch later; git reset -q --hard $BASE; git gc -q; git repack -a -d -q -b -k; for p in .git/objects/pack/*.pack; do touch "${p%.pack}.keep"; done; git multi-pack-index write; git commit-graph write --reachable`,
		"unreachable in a pack":    `git repack -a -d -q -k; git reset -q --hard $BASE; git reflog expire --expire=now --all; git update-ref -d ORIG_HEAD`,
		"a remote":                 `git clone -q --bare . ../origin.git; git remote add origin ../origin.git; git fetch -q; git reset -q --hard $BASE; rm -rf ../origin.git`,
		"borrowed objects":         `git clone -q --bare . ../lender.git; rm -rf .git; git clone -q --shared ../lender.git tmp; mv tmp/.git .git; rm -rf tmp; git reset -q --hard $BASE`,
		"a worktree":               `git worktree add -q ../other; git reset -q --hard $BASE`,
		"notes and other refs":     `git update-ref refs/pull/1/head HEAD; git notes add -m note; git replace $BASE HEAD; git -c core.useReplaceRefs=false reset -q --hard $BASE`,
		"a detached head":          `git checkout -q --detach; git branch -D -q main; git -c advice.detachedHead=false checkout -q $BASE`,
		"files without a commit":   `git reset -q --hard $BASE; git reflog expire --expire=now --all; rm -f .git/ORIG_HEAD; git prune --expire=now; echo THE-FIX | git hash-object -w --stdin`,
		"a linked work folder":     `rm added-later.py; mkdir /src; mv .git /src; (cd /src; git reset -q --hard; git worktree add -q --detach /linked $BASE); mv /linked/.git .; echo /testbed/.git >/src/.git/worktrees/linked/gitdir; git reset -q --hard`,
		"linked objects":           `git reset -q --hard $BASE; mkdir /store; mv .git/objects /store/objects; ln -s /store/objects .git/objects`,
		"a partial clone":          `git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true; mv .git ../all.git; git clone -q --no-checkout --filter=blob:none file:///all.git ../part; mv ../part/.git .git; git reset -q --hard main; git log -p >/dev/null; git reset -q --hard $BASE; rm -rf ../all.git`,
		"staged":                   `git reset -q --hard $BASE; git checkout -q HEAD@{1} -- code.py; git show HEAD:code.py >code.py`,
		"packed without a commit":  `git reset -q --hard $BASE; git reflog expire --expire=now --all; rm -f .git/ORIG_HEAD; git prune --expire=now; echo THE-FIX | git hash-object -w --stdin | git pack-objects -q .git/objects/pack/pack; git prune-packed -q`,
		"hooks and locks":          `printf '#!/bin/sh\nexit 1\n' >.git/hooks/reference-transaction; chmod +x .git/hooks/*; touch .git/index.lock`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := newSandbox(t)
			base := bash(t, sandbox, repositorySetup)
			bash(t, sandbox, "BASE="+base+"\n"+arrange)
			if found := strings.Trim(bash(t, sandbox, findFix), "0\n"); found == "" {
				t.Fatal("there is nothing to hide")
			}
			if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, base); err != nil {
				t.Fatal(err)
			}
			if found := strings.Trim(bash(t, sandbox, findFix), "0\n"); found != "" {
				t.Errorf("still found: %s", found)
			}
			if got := bash(t, sandbox, "git rev-parse HEAD; git status --porcelain; cat code.py gone-later.py built/lib.so untracked.txt; ls; git log --format=%s; git fsck --full 2>&1; cat /src/code.py 2>/dev/null || echo bug"); got != base+"\n?? untracked.txt\nbug\nbase-only\nso\nnote\nbuilt\ncode.py\ngone-later.py\nuntracked.txt\nbase\nan ancestor\nbug" {
				t.Errorf("the repository is now: %s", got)
			}
		})
	}
}

func TestTreeAtTheBaseCommitStaysAsItIs(t *testing.T) {
	sandbox := newSandbox(t)
	many := strings.Replace(repositorySetup, "echo built", "mkdir many; for i in $(seq 5000); do echo $i >many/$i; done; echo built", 1)
	base := bash(t, sandbox, many)
	bash(t, sandbox, "git reset -q --hard "+base+"; echo set up by the image >>code.py; git gc -q")
	for _, commit := range []string{"", base, base[:12]} {
		if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, commit); err != nil {
			t.Fatal(err)
		}
		if got := bash(t, sandbox, "git rev-parse HEAD; git symbolic-ref HEAD; cat code.py"); got != base+"\nrefs/heads/main\nbug\nset up by the image" {
			t.Errorf("base %q: %s", commit, got)
		}
	}
}

func TestRepositoriesWithLongNamesAndShallowOnesAreCleared(t *testing.T) {
	sandbox := newSandbox(t)
	base := bash(t, sandbox, strings.Replace(repositorySetup, "git init -q", "git init -q --object-format=sha256", 1))
	bash(t, sandbox, "git clone -q --no-local --depth 2 file:///testbed /shallow; cd /shallow; git reset -q --hard "+base)
	for _, dir := range []string{envstest.Workdir, "/shallow"} {
		if err := envs.HideHistory(t.Context(), sandbox, dir, base); err != nil {
			t.Fatal(err)
		}
		if got := bash(t, sandbox, "cd "+dir+"; "+findFix); strings.Trim(got, "0\n") != "" {
			t.Errorf("%s: still found: %s", dir, got)
		}
		if got := bash(t, sandbox, "cd "+dir+"; git rev-parse HEAD; git fsck --full 2>&1; cat code.py"); got != base+"\nbug" {
			t.Errorf("%s is now: %s", dir, got)
		}
	}
}

func TestHistoryThatCannotBeHiddenIsAnError(t *testing.T) {
	sandbox := newSandbox(t)
	if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, ""); relabel.CodeOf(err) != relabel.CodeEnvironment {
		t.Errorf("no repository: %v", err)
	}
	base := bash(t, sandbox, repositorySetup)
	if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, strings.Repeat("0", 40)); relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(err.Error(), "no commit 000") {
		t.Errorf("no such commit: %v", err)
	}
	// A git that packs nothing must not pass for one that does.
	bash(t, sandbox, `printf '#!/bin/sh\ncase "$*" in *pack-objects*) exit 0;; esac\nexec /usr/bin/git "$@"\n' >/usr/local/bin/git; chmod +x /usr/local/bin/git`)
	if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, base); relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(err.Error(), "earlier ones are not") {
		t.Errorf("objects are lost: %v", err)
	}
}

func TestOtherRepositoriesThatCannotBeClearedAreErrors(t *testing.T) {
	for name, c := range map[string]struct{ arrange, workdir, want string }{
		"read-only": {`git clone -q . /copy; chmod -R a-w /copy; git reset -q --hard $BASE`, envstest.Workdir, "/copy/.git has later commits, and root may not change it: remove it from the image, or make it writable"},
		"around the task's": {`git clone -q --no-local --depth 1 file:///testbed /outer; git clone -q . /outer/inner; git -C /outer/inner reset -q --hard $BASE; rm -rf .git`, "/outer/inner",
			"/outer is a repository at a later commit, and /outer/inner is in it: remove it from the image"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sandbox := newSandbox(t)
			base := bash(t, sandbox, strings.Replace(repositorySetup, "echo built", "for i in 1 2 3 4 5; do echo $i >file-$i; done; echo built", 1))
			bash(t, sandbox, "BASE="+base+"\n"+c.arrange)
			err := envs.HideHistory(t.Context(), sandbox, c.workdir, base)
			if relabel.CodeOf(err) != relabel.CodeEnvironment || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestWithoutASandboxOnlyTheWorkFolderIsSearched uses a host whose commands run on this machine.
func TestWithoutASandboxOnlyTheWorkFolderIsSearched(t *testing.T) {
	dir := t.TempDir()
	host := faketest.NewHost(dir, "image")
	sandbox, err := host.Create(t.Context(), envs.Spec{Name: "s", Image: "image", Workdir: "/testbed"})
	if err != nil {
		t.Fatal(err)
	}
	defer sandbox.Close(context.Background())
	beside := t.TempDir()
	base := bash(t, sandbox, repositorySetup)
	bash(t, sandbox, "git clone -q . "+beside+"/clone; git bundle create -q "+beside+"/x.bundle --all")
	if err := envs.HideHistory(t.Context(), sandbox, "", base); err != nil {
		t.Fatal(err)
	}
	if got := bash(t, sandbox, "cat code.py "+beside+"/clone/code.py; ls "+beside); got != "bug\nTHE-FIX\nclone\nx.bundle" {
		t.Errorf("got %s", got)
	}
}
