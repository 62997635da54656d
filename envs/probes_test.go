package envs_test

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"relabel/envs"
	"relabel/envs/envstest"
)

var (
	//go:embed testdata/future.sh
	future string // makes a repository and leaves its fix in every place
	//go:embed testdata/probe.py
	inflate string
)

// probes are what an agent may try. Each prints texts of the fix (FIX-…), or names that only the later history has.
var probes = map[string]string{
	"log of all refs":         `git log --all --reflog -p --format=%B%N --notes='*'`,
	"reflogs":                 `git reflog show --all; cat .git/logs/HEAD .git/logs/refs/*`,
	"stashes":                 `git stash list; git stash show -p`,
	"refs":                    `git for-each-ref | grep -v refs/heads/main; cat .git/packed-refs`,
	"heads of commands":       `for h in ORIG_HEAD FETCH_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD AUTO_MERGE; do git show $h; done`,
	"unreachable objects":     `git fsck --full --unreachable --no-reflogs --no-progress | cut -d' ' -f3 | xargs -rn1 git show; ls .git/lost-found`,
	"all objects":             `git cat-file --batch-all-objects --batch --unordered --buffer`,
	"replaced history":        `git --no-replace-objects replace -l; env -u GIT_NO_REPLACE_OBJECTS git show main`,
	"working trees":           `git worktree list | tail -n +2; ls .git/worktrees; cat /elsewhere/worktree/*.py`,
	"the index":               `git diff --cached; git ls-files --stage | cut -d' ' -f2 | xargs -n1 git cat-file -p`,
	"resolved conflicts":      `git ls-files --resolve-undo; git ls-files --resolve-undo | cut -d' ' -f2 | xargs -rn1 git cat-file -p; cat .git/rr-cache/*/*`,
	"submodules":              `git submodule foreach --quiet 'git log --all --reflog -p; git cat-file --batch-all-objects --batch'; ls -d added .git/modules/added`,
	"remotes":                 `git remote -v; git fetch origin && git log -p origin/branch; git fetch /mirrors/bare.git branch && git show FETCH_HEAD`,
	"settings":                `git config --local --list`,
	"git folder as text":      `grep -ra FIX- .git`,
	"other repositories":      `find / -name HEAD -not -path '/proc/*' | sed 's|/HEAD$||' | while read d; do git --git-dir="$d" log --all --reflog -p; git --git-dir="$d" cat-file --batch-all-objects --batch; done`,
	"other object stores":     `find / -type d -name objects -not -path '/proc/*' | while read d; do GIT_OBJECT_DIRECTORY=$d git cat-file --batch-all-objects --batch; done`,
	"bundles":                 `find / -type f -size -1000k -not -path '/proc/*' -not -path '/sys/*' -not -path '/usr/*' | xargs -d '\n' grep -laE '^# v[23] git bundle' | while read f; do rm -rf /b; git clone -q --bare "$f" /b && git -C /b log --all -p || { git fetch "$f" tmp && git show FETCH_HEAD; }; done; rm -rf /b`,
	"packs":                   `find / \( -name '*.pack' -o -name 'tmp_pack*' \) -not -path '/proc/*' | while read f; do rm -rf /b; git init -q --bare /b; git -C /b unpack-objects -r -q <"$f"; git -C /b cat-file --batch-all-objects --batch; done; rm -rf /b`,
	"files of patch and git":  `cat $(find / \( -name '*.rej' -o -name '*.orig' -o -name '*.patch' -o -name '*.diff' -o -name '*.bundle' \) -not -path '/proc/*' -not -path '/usr/*')`,
	"the whole disk":          `grep -raohE 'FIX-[a-z-]*' / --exclude-dir=proc --exclude-dir=sys --exclude-dir=usr --exclude-dir=relabel`,
	"compiled files":          `find / -name '*.pyc' -not -path '/usr/*' -not -path '/proc/*' | xargs -r grep -ah FIX-`,
	"large files":             `find .git/lfs -type f | xargs -r cat`,
	"every compressed stream": `python3 - - <<'END'` + "\n" + inflate + "\nEND",
	"files of the git folder": `ls -A .git | grep -vxE 'HEAD|config|description|hooks|index|info|lfs|modules|objects|refs'`,
}

var fixText = regexp.MustCompile(`FIX-[A-Za-z]+(?:-[A-Za-z]+)*`)

// probe runs a probe and returns the texts of the fix in its output.
func probe(t *testing.T, sandbox envs.Sandbox, script string) (output string, texts []string) {
	t.Helper()
	output = bash(t, sandbox, "export GIT_CONFIG_GLOBAL=/root/.gitconfig\n("+script+"\n) 2>/dev/null | tr -d '\\000' | grep -a -E 'FIX-|^[^ ]+$|later|^remote|refs/|^/' | head -c 500000 || true")
	found := map[string]bool{}
	for _, text := range fixText.FindAllString(output, -1) {
		found[text] = true
	}
	return output, slices.Sorted(maps.Keys(found))
}

// TestNoProbeFindsTheFix leaves the fix in 44 places. Every probe finds some before they are cleared, the inflating one all, and none after.
func TestNoProbeFindsTheFix(t *testing.T) {
	sandbox := newSandbox(t)
	base := bash(t, sandbox, "cat >/dev/null; "+future)
	places := map[string]bool{}
	for _, text := range fixText.FindAllString(regexp.MustCompile(`(?:commit_fix|blob|pack_of) ([a-z-]+)`).ReplaceAllString(future, "FIX-$1"), -1) {
		places[text] = true
	}
	delete(places, "FIX-place")
	_, all := probe(t, sandbox, probes["every compressed stream"])
	for place := range places {
		if !slices.Contains(all, place) {
			t.Errorf("the fix is not in the place %s before: the test shows nothing for it", place)
		}
	}
	if len(places) < 44 {
		t.Errorf("only %d places", len(places))
	}
	before := map[string]string{}
	for name, script := range probes {
		output, texts := probe(t, sandbox, script)
		before[name] = output
		if len(texts) == 0 && output == "" {
			t.Errorf("the probe %q finds nothing before", name)
		}
	}
	if err := envs.HideHistory(t.Context(), sandbox, envstest.Workdir, base); err != nil {
		t.Fatal(err)
	}
	for name, script := range probes {
		output, texts := probe(t, sandbox, script)
		if len(texts) > 0 {
			t.Errorf("the probe %q finds %v", name, texts)
		}
		if output == before[name] {
			t.Errorf("the probe %q finds the same as before: %.300s", name, output)
		}
	}
	want := base + "\n?? untracked.txt\nbug\nso\nnote\n1\n1\nbase\nan ancestor\nrefs/heads/main"
	if got := bash(t, sandbox, `git rev-parse HEAD; git status --porcelain; cat code.py built/lib.so untracked.txt library/lib.py vendored/v.py; git log --format=%s
		git for-each-ref --format='%(refname)'; git fsck --full --no-progress; git submodule --quiet foreach 'git fsck --full --no-progress'; git bundle verify -q data/test.bundle >/dev/null 2>&1; test -e data/bare.git/refs/heads/x`); got != want {
		t.Errorf("the repository is now: %s", got)
	}
	if got := bash(t, sandbox, `for d in /root/.cache/tool/clone /tmp/at-base /srv/shared /mirrors/bare.git; do git -C $d rev-parse HEAD; [ ! -d $d/.git ] || git -C $d status --porcelain; git -C $d fsck --full --no-progress; done
		git -C /origin/library log --format=%s; ls -d /opt/shallow /tmp/new /store/lender.git/objects 2>/dev/null || true`); got != strings.Repeat(base+"\n", 4)+"library" {
		t.Errorf("the other repositories are now: %s", got)
	}
}
