package releases

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// repository is a bare git repository with source trees as commits without parents. They have neither the
// user's name nor the time in them, so that they are the same on each machine.
type repository struct{ dir string }

// openRepository returns the repository in a folder, and makes it if it does not exist.
func openRepository(ctx context.Context, dir string) (repository, error) {
	r := repository{dir}
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		return r, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	_, err := r.git(ctx, "init", "-q", "--bare", "-b", "main", "--template=", ".")
	return r, err
}

// git runs git in the repository.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	out, err := run(ctx, r.dir, gitEnvironment(), "git", args...)
	return string(out), err
}

// gitEnvironment makes git independent of the user's and the machine's configuration.
func gitEnvironment() []string {
	env := []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"XDG_CONFIG_HOME=/dev/null", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0"}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME=base", "GIT_"+who+"_EMAIL=base@invalid", "GIT_"+who+"_DATE=2000-01-01T00:00:00Z")
	}
	return env
}

// commit makes a commit that has all files of a folder, as a branch, and returns its hash.
func (r repository) commit(ctx context.Context, tree, message, branch string) (string, error) {
	index := filepath.Join(tree, "..", "index")
	env := append(gitEnvironment(), "GIT_DIR="+r.dir, "GIT_INDEX_FILE="+index)
	if _, err := run(ctx, tree, append(env, "GIT_WORK_TREE="+tree), "git", "add", "-A", "-f", "."); err != nil {
		return "", err
	}
	id, err := run(ctx, r.dir, env, "git", "write-tree")
	if err != nil {
		return "", err
	}
	commit, err := r.git(ctx, "commit-tree", "-m", message, strings.TrimSpace(string(id)))
	if err != nil {
		return "", err
	}
	commit = strings.TrimSpace(commit)
	_, err = r.git(ctx, "update-ref", "refs/heads/"+branch, commit)
	return commit, err
}

// find returns the commit of a branch; "" if there is none.
func (r repository) find(ctx context.Context, branch string) string {
	out, err := r.git(ctx, "rev-parse", "-q", "--verify", "refs/heads/"+branch+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// take copies a commit of another repository, without any other, as a branch. ignored are patterns of files
// that work trees made from the repository ignore.
func (r repository) take(ctx context.Context, from repository, commit, branch string, ignored []string) error {
	if r.find(ctx, branch) == commit {
		return nil
	}
	if _, err := r.git(ctx, "fetch", "-q", "--force", "--no-tags", "--no-write-fetch-head", from.dir, commit+":refs/heads/"+branch); err != nil {
		return err
	}
	if _, err := r.git(ctx, "symbolic-ref", "HEAD", "refs/heads/"+branch); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(r.dir, "info"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, "info", "exclude"), []byte(strings.Join(ignored, "\n")+"\n"), 0o644)
}
