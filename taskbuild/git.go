package taskbuild

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"relabel"
)

// gitSettings make git independent of the user's and the machine's configuration, and let it read
// repositories of other users, whose configuration must run no programs.
var gitSettings = []string{
	"-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=off", "-c", "core.autocrlf=false", "-c", "core.fsmonitor=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false", "-c", "protocol.file.allow=always", "-c", "diff.noprefix=false",
	"-c", "diff.mnemonicPrefix=false", "-c", "diff.external=", "-c", "core.attributesFile=/dev/null", "-c", "log.showSignature=false", "-c", "format.pretty=medium", "-c", "gpg.program=false", "-c", "core.alternateRefsCommand=",
}

// Git runs git in a repository, a git directory or a work tree, and returns its output. It reads no
// configuration but the repository's own.
func Git(ctx context.Context, repository string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{"-C", repository}, gitSettings...), args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_LFS_SKIP_SMUDGE=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, relabel.Errorf(relabel.CodeInvalid, "git %s failed in %s", args[0], repository).
			Because(fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes())))
	}
	return stdout.Bytes(), nil
}

// gitWord is Git for output of one line.
func gitWord(ctx context.Context, repository string, args ...string) (string, error) {
	out, err := Git(ctx, repository, args...)
	return strings.TrimSpace(string(out)), err
}

// pathspecs are patterns of a recipe as git's.
func pathspecs(patterns []string) []string {
	specs := make([]string, len(patterns))
	for i, p := range patterns {
		specs[i] = ":(top,glob)" + p
	}
	return specs
}

// exportCommit writes a repository with only one commit, and its work tree, into an empty folder. The
// commit keeps its hash; its ancestors, and everything later, are not there.
func exportCommit(ctx context.Context, repository, commit, dir string) error {
	gitDir, err := gitWord(ctx, repository, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	server := "git -c safe.directory=* -c uploadpack.allowAnySHA1InWant=true -c uploadpack.hideRefs= upload-pack"
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "--template="},
		{"fetch", "-q", "--depth", "1", "--no-tags", "--no-write-fetch-head", "--upload-pack", server, "file://" + gitDir, commit},
		{"reset", "-q", "--hard", commit},
	} {
		if _, err := Git(ctx, dir, args...); err != nil {
			return err
		}
	}
	if err := copyExclude(gitDir, dir); err != nil {
		return err
	}
	return onlyCommit(ctx, dir, commit)
}

// onlyCommit fails unless a repository contains no commit and no tag but one commit.
func onlyCommit(ctx context.Context, dir, commit string) error {
	out, err := Git(ctx, dir, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return err
	}
	for _, line := range strings.Split(string(out), "\n") {
		kind, name, _ := strings.Cut(line, " ")
		if (kind == "commit" && name != commit) || kind == "tag" {
			return relabel.Errorf(relabel.CodeInternal, "the history of commit %s could not be cut: %s is there too", commit, line)
		}
	}
	return nil
}
