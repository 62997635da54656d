package taskbuild_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relabel/taskbuild"
)

func TestDockerfileThatFailsIsNamed(t *testing.T) {
	b := newBench(t, "one")
	dir := b.useDockerfile()
	b.engine.fail["Dockerfile"] = &taskbuild.CommandError{Exit: 1, Output: "The command '/bin/sh -c false' returned a non-zero code: 1\n"}
	refused := func(want string) {
		t.Helper()
		report := b.build()
		if len(report.Refused) != 1 || report.Refused[0].Reason != taskbuild.ReasonDockerfile || !strings.Contains(report.Refused[0].Detail, want) {
			t.Errorf("%+v", report)
		}
	}
	refused("non-zero code")
	git(t, dir, "init", "-q")
	refused("is in a repository")
	b.options.Recipe.Dockerfile = filepath.Join(dir, "other")
	refused("no such file")
}

func TestDockerfileAndItsContextDetermineTheImage(t *testing.T) {
	b := newBench(t, "one")
	dir := b.useDockerfile()
	write(t, dir, "tools/version", "1\n")
	b.build()
	context := t.TempDir()
	unpack(t, b.engine.images[b.engine.made[0]].Files, context)
	if text, err := os.ReadFile(filepath.Join(context, "tools", "version")); err != nil || string(text) != "1\n" {
		t.Errorf("the context: %q, %v", text, err)
	}
	if again := b.build(); again.Built != 0 {
		t.Errorf("nothing has changed: %+v", again)
	}
	write(t, dir, "tools/version", "2\n")
	if again := b.build(); again.Built != 1 || again.Sound != 1 || len(b.engine.made) != 4 {
		t.Errorf("a file of the context has changed: %+v, made %v", again, b.engine.made)
	}
}

// useDockerfile lets the recipe have a Dockerfile, and returns its folder.
func (b *bench) useDockerfile() string {
	dir := b.t.TempDir()
	write(b.t, dir, "Dockerfile", "FROM base\nRUN make\n")
	b.options.Recipe.Image, b.options.Recipe.Dockerfile = "", filepath.Join(dir, "Dockerfile")
	return dir
}
