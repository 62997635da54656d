package envstest

import (
	"errors"
	"strings"
	"testing"

	"relabel/envs"
)

// treeCase is a working tree with unusual files, and its expected fingerprint and patch.
type treeCase struct {
	before string // a script that is executed first
	script string
	print  string   // "changed" or "same" by script; "" if it is not compared
	patch  []string // texts that the patch contains; nil: it is empty
	lacks  string   // a text that the patch does not contain; "": any
}

func (s *suite) testTrees(t *testing.T, cases map[string]treeCase) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b, base := s.repository(t)
			b.bash(c.before)
			if c.print == "" {
				b.bash(c.script)
			} else {
				first := b.fingerprint()
				b.bash(c.script)
				if same := b.fingerprint() == first; same != (c.print == "same") {
					t.Errorf("the fingerprint is not %s", c.print)
				}
			}
			p := b.patchWith(base, c.patch...)
			if c.patch == nil && len(p.Diff) > 0 || c.lacks != "" && strings.Contains(string(p.Diff), c.lacks) {
				t.Errorf("the patch is %q", p.Diff)
			}
		})
	}
}

// Changes of files are found although the repository's index tells git to ignore them.
func (s *suite) testHiddenChanges(t *testing.T) {
	const belowLink = `here=$PWD; cd ..; mv "$here" moved && ln -s moved "$here"
mkdir -p moved/sub; git -C moved/sub init -q; echo inside >moved/sub/file`
	cases := map[string]treeCase{
		"a sparse checkout": {script: "git update-index --skip-worktree src/a.py && rm -r src"},
		"below a link":      {script: belowLink, patch: []string{"+inside"}},
	}
	for _, mark := range []string{"--assume-unchanged", "--skip-worktree"} {
		cases[mark] = treeCase{before: "git update-index " + mark + " plain.txt src/a.py", script: "echo hidden >>plain.txt",
			print: "changed", patch: []string{"+hidden"}, lacks: "a.py"}
	}
	s.testTrees(t, cases)
	t.Run("below a link, without a repository", func(t *testing.T) {
		b, _ := s.repository(t)
		b.bash(belowLink)
		b.bash("rm -rf .git")
		first := b.fingerprint()
		b.bash("echo more >>plain.txt")
		b.changed(first, "a change")
	})
}

// Pipes and devices in place of git's files cause no call to block or to run forever.
func (s *suite) testStrangeFiles(t *testing.T) {
	b, base := s.repository(t)
	b.bash("rm .git/index .git/HEAD .git/info/exclude; mkfifo .git/index .git/info/exclude .git/commondir")
	b.bash("ln -s /dev/zero .git/HEAD; echo new >file")
	b.fingerprint()
	b.patchWith(base, "+new")
	b.bash(`rm -rf "$PWD"`)
	if first := b.fingerprint(); b.fingerprint() != first {
		t.Error("a missing tree has two fingerprints")
	}
}

// Pipes, and links to devices, that have the names of git's own files are ignored anywhere in the tree:
// git would wait for them, or read forever.
func (s *suite) testSpecialFiles(t *testing.T) {
	cases := map[string]treeCase{}
	for name, make := range map[string]string{
		"pipes":            "mkfifo -m 644 src/.gitignore src/.gitattributes .gitattributes .gitmodules pipe",
		"a pipe of mode 0": "mkdir deep; mkfifo -m 0 deep/.gitignore",
		"a tracked file":   "rm .gitignore; mkfifo .gitignore",
		"links to pipes":   "mkfifo ../pipe; ln -s ../../pipe src/.gitignore; ln -s ../pipe .gitattributes",
		"links to devices": "ln -s /dev/zero .gitattributes; ln -s /dev/random src/.gitignore",
		"sockets":          `python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('.gitattributes')"`,
	} {
		cases[name] = treeCase{before: make + "; echo new >file", script: "echo newer >file", print: "changed",
			patch: []string{"+newer"}, lacks: "pipe"}
	}
	// Its fingerprint opens HEAD and ends at the caller's deadline.
	cases["a repository"] = treeCase{before: "mkdir sub; git -C sub init -q; rm sub/.git/HEAD; mkfifo sub/.git/HEAD",
		script: "echo new >file", patch: []string{"+new"}, lacks: "pipe"}
	s.testTrees(t, cases)
}

// forge replaces the content of the loose object of plain.txt at HEAD.
const forge = `python3 - <<'end'
import os, subprocess, zlib
name = subprocess.check_output(["git", "rev-parse", "HEAD:plain.txt"], text=True).strip()
path = ".git/objects/" + name[:2] + "/" + name[2:]
os.chmod(path, 0o644)
open(path, "wb").write(zlib.compress(b"blob 7\0forged\n"))
end`

// Forged contents in the repository's own files do not change fingerprints and patches.
func (s *suite) testForgeries(t *testing.T) {
	s.testTrees(t, map[string]treeCase{
		"an index with other contents": {print: "same", script: `id=$(echo forged | git hash-object -w --stdin)
git update-index --cacheinfo 100644,$id,plain.txt; git update-index --add --cacheinfo 100644,$id,nowhere.txt`},
		"a file that only the index tracks": {patch: []string{"+text\n+more\n"},
			script: "echo text >debug.log; git add -f debug.log; echo more >>debug.log"},
		"replaced objects": {patch: []string{" three\n+four\n"},
			script: `git replace $(git rev-parse HEAD:plain.txt) $(echo forged | git hash-object -w --stdin); echo four >>plain.txt`},
	})
	t.Run("an object with another content", func(t *testing.T) {
		b, base := s.repository(t)
		b.bash(forge + "\necho four >>plain.txt")
		if p, err := b.Patch(t.Context(), base); !errors.Is(err, envs.ErrNoRepository) {
			t.Errorf("patch %q, %v", p.Diff, err)
		}
	})
}
