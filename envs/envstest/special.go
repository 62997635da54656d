package envstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"relabel/envs"
)

// Pipes and links to devices under the names of git's own files, anywhere in the tree, are passed
// over: git would wait for them, or read for ever.
func (s *suite) testSpecialFiles(t *testing.T) {
	for name, make := range map[string]string{
		"pipes":            "mkfifo -m 644 src/.gitignore src/.gitattributes .gitattributes .gitmodules pipe",
		"a pipe of mode 0": "mkdir deep; mkfifo -m 0 deep/.gitignore",
		"a tracked file":   "rm .gitignore; mkfifo .gitignore",
		"links to pipes":   "mkfifo ../pipe; ln -s ../../pipe src/.gitignore; ln -s ../pipe .gitattributes",
		"links to devices": "ln -s /dev/zero .gitattributes; ln -s /dev/random src/.gitignore",
		"sockets":          `python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('.gitattributes')"`,
		"a repository":     "mkdir sub; git -C sub init -q; rm sub/.git/HEAD; mkfifo sub/.git/HEAD",
	} {
		t.Run(name, func(t *testing.T) {
			b := s.sandbox(t)
			base := b.repository()
			b.bash(make + "; echo new >file")
			ctx, cancel := context.WithTimeout(t.Context(), runTime)
			defer cancel()
			if name != "a repository" { // git looks for its HEAD: the caller's deadline ends that
				first, err := b.Fingerprint(ctx)
				if err != nil {
					t.Fatalf("fingerprint: %v", err)
				}
				b.bash("echo newer >file")
				if second, err := b.Fingerprint(ctx); err != nil || second == first {
					t.Errorf("a change is not seen: %v", err)
				}
			}
			p, err := b.Patch(ctx, base)
			if err != nil || !strings.Contains(string(p.Diff), "+new") || strings.Contains(string(p.Diff), "pipe") {
				t.Errorf("patch: %q, %v", p.Diff, err)
			}
		})
	}
}

// forge replaces the loose object of plain.txt at HEAD by one with another content.
const forge = `python3 - <<'end'
import os, subprocess, zlib
name = subprocess.check_output(["git", "rev-parse", "HEAD:plain.txt"], text=True).strip()
path = ".git/objects/" + name[:2] + "/" + name[2:]
os.chmod(path, 0o644)
open(path, "wb").write(zlib.compress(b"blob 7\0forged\n"))
end`

// What a command writes into the repository's own files does not change what is taken.
func (s *suite) testForgeries(t *testing.T) {
	t.Run("an index with other contents", func(t *testing.T) {
		b := s.sandbox(t)
		base := b.repository()
		clean := b.fingerprint()
		b.bash(`id=$(echo forged | git hash-object -w --stdin); git update-index --cacheinfo 100644,$id,plain.txt; git update-index --add --cacheinfo 100644,$id,nowhere.txt`)
		if b.fingerprint() != clean {
			t.Error("the fingerprint is of what the index says")
		}
		if p := b.patch(base); len(p.Diff) > 0 {
			t.Errorf("the patch is of what the index says: %s", p.Diff)
		}
	})
	t.Run("a file that the index alone tracks", func(t *testing.T) {
		b := s.sandbox(t)
		base := b.repository()
		b.bash("echo text >debug.log; git add -f debug.log; echo more >>debug.log")
		if p := b.patch(base); !strings.Contains(string(p.Diff), "+text\n+more\n") {
			t.Errorf("the patch is %q", p.Diff)
		}
	})
	t.Run("an object with another content", func(t *testing.T) {
		b := s.sandbox(t)
		base := b.repository()
		b.bash(forge + "\necho four >>plain.txt")
		if p, err := b.Patch(t.Context(), base); !errors.Is(err, envs.ErrNoRepository) {
			t.Errorf("patch %q, %v", p.Diff, err)
		}
	})
	t.Run("replaced objects and grafts", func(t *testing.T) {
		b := s.sandbox(t)
		base := b.repository()
		b.bash(`id=$(echo forged | git hash-object -w --stdin); git replace $(git rev-parse HEAD:plain.txt) $id; echo four >>plain.txt`)
		if p := b.patch(base); !strings.Contains(string(p.Diff), " three\n+four\n") {
			t.Errorf("the patch is %q", p.Diff)
		}
	})
}

// Files that git cannot take, or that are too large to be text, are left out and named.
func (s *suite) testBounds(t *testing.T) {
	b := s.sandbox(t)
	base := b.repository()
	b.bash(`truncate -s 9G sparse; echo secret >unreadable; chmod 0 unreadable; printf 'odd\n' >"$(printf 'a\nb\377')"
python3 - <<'end'
import os
for i in range(40):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
open("file", "w").write("deep")
end`)
	first := b.fingerprint()
	b.bash("truncate -s 8G sparse")
	if b.fingerprint() == first {
		t.Error("another size of a large file is not seen")
	}
	p := b.patch(base)
	if !slices.Contains(p.Dropped, "sparse") || !slices.ContainsFunc(p.Dropped, func(name string) bool { return len(name) > 3000 }) {
		t.Errorf("left out: %.80q", p.Dropped)
	}
	for _, want := range []string{"+secret\n", `"b/a\nb\377"`} {
		if !strings.Contains(string(p.Diff), want) {
			t.Errorf("the patch lacks %q: %s", want, p.Diff)
		}
	}
	b.bash("rm -rf d*")
}
