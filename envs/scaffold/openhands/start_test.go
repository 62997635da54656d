package openhands

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/envs"
	"relabel/envs/docker/dockertest"
)

// helloPy is a file of the tests' repository.
const helloPy = "print('hello, world')\n"

// testClaim is a claim on a task whose image holds a repository of two commits, of
// which the first is the base commit and the second the fix.
func testClaim(t *testing.T) (envs.Host, relabel.Claim) {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@invalid"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(content string) string {
		if err := os.WriteFile(filepath.Join(dir, "hello.py"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-q", "-m", content)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q")
	var c relabel.Claim
	c.TrajectoryID, c.Attempt = relabel.NewID(), 1
	c.Task.BaseCommit = commit(helloPy)
	commit("the_fix()\n")
	c.Task.Workdir = "/testbed"
	c.Task.Image = dockertest.Image(t, dir, c.Task.Workdir)
	c.Run.Limits = relabel.PaperLimits
	c.Run.Prompts = DefaultPrompts()
	return dockertest.NewHost(t), c
}

// start starts an episode in a container, which is removed when the test is over.
func start(t *testing.T) *Episode {
	t.Helper()
	host, c := testClaim(t)
	e, err := Start(context.Background(), host, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestAStartNamesTheFolderAndTheCommitThatAreNotThere(t *testing.T) {
	host, sound := testClaim(t)
	missing := strings.Repeat("f", 40)
	for want, spoil := range map[string]func(*relabel.Task){
		"no commit " + missing + " in /testbed": func(t *relabel.Task) { t.BaseCommit = missing },
		"in /nowhere: fatal: not a git":         func(t *relabel.Task) { t.Workdir = "/nowhere" },
	} {
		c := sound
		spoil(&c.Task)
		_, err := Start(context.Background(), host, c)
		var e *relabel.Error
		if !errors.As(err, &e) || e.Code != relabel.CodeInvalid || !strings.Contains(e.Message, want) {
			t.Errorf("it does not show %q: %v", want, err)
		}
	}
}
