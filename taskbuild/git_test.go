package taskbuild_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel/taskbuild"
)

func TestTheConfigurationOfARepositoryRunsNoProgram(t *testing.T) {
	dir := t.TempDir()
	ran, program := filepath.Join(dir, "ran"), filepath.Join(dir, "program")
	write(t, dir, "program", "#!/bin/sh\ntouch "+ran+"\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	repository := filepath.Join(dir, "repository")
	git(t, dir, "init", "-q", repository)
	write(t, repository, ".gitattributes", "* diff=other filter=other\n")
	write(t, repository, "shelf.py", "books = 1\n")
	git(t, repository, "add", "-A")
	git(t, repository, "commit", "-q", "-m", "one")
	signed := strings.Replace(git(t, repository, "cat-file", "commit", "HEAD"), "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n", 1)
	hash := exec.Command("git", "-C", repository, "hash-object", "-t", "commit", "-w", "--stdin")
	hash.Stdin = strings.NewReader(signed + "\n")
	commit, err := hash.Output()
	if err != nil {
		t.Fatal(err)
	}
	git(t, repository, "reset", "-q", "--hard", strings.TrimSpace(string(commit)))
	for key, value := range map[string]string{
		"log.showSignature": "true", "gpg.program": program, "core.fsmonitor": program, "diff.external": program, "core.pager": program,
		"diff.other.command": program, "diff.other.textconv": program, "filter.other.clean": program, "core.alternateRefsCommand": program,
	} {
		git(t, repository, "config", key, value)
	}
	for _, args := range [][]string{
		{"log", "-1", "--format=%H"}, {"diff", "--no-ext-diff", "--no-textconv", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", "HEAD"}, {"ls-tree", "-r", "HEAD"},
	} {
		if _, err := taskbuild.Git(t.Context(), repository, args...); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("git %s has run a program of the repository's configuration", args[0])
		}
	}
}
