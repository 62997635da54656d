// Package recipes has the recipes of the usual test runners, and detects which of them fits a repository.
package recipes

import (
	"context"
	"fmt"
	"strings"

	"relabel"
	"relabel/taskbuild"
)

// Tree is a repository at a commit, for detection.
type Tree struct {
	paths map[string]bool
	read  func(path string) ([]byte, error)
}

// TreeAt reads the names of the files of a commit.
func TreeAt(ctx context.Context, repository, commit string) (Tree, error) {
	out, err := taskbuild.Git(ctx, repository, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	if err != nil {
		return Tree{}, err
	}
	t := Tree{paths: map[string]bool{}, read: func(path string) ([]byte, error) {
		return taskbuild.Git(ctx, repository, "cat-file", "blob", commit+":"+path)
	}}
	for _, path := range strings.Split(string(out), "\x00") {
		t.paths[path] = path != ""
	}
	return t, nil
}

// Has reports whether there is a file.
func (t Tree) Has(path string) bool { return t.paths[path] }

// Any reports whether a file matches one of the patterns.
func (t Tree) Any(patterns ...string) bool {
	for path := range t.paths {
		if taskbuild.MatchAny(patterns, path) {
			return true
		}
	}
	return false
}

// Text returns the content of a file; "" if it does not exist.
func (t Tree) Text(path string) string {
	if !t.Has(path) {
		return ""
	}
	text, _ := t.read(path)
	return string(text)
}

// detectors make the recipe of a tree; ok is false if it does not fit. The first that fits counts.
var detectors = []func(Tree) (r taskbuild.Recipe, ok bool){detectGo, detectCargo, detectMaven, detectGradle, detectPytest, detectNode}

// Detect returns the recipe for a repository at the newest commit of a range. It fails with CodeInvalid if none fits.
func Detect(ctx context.Context, repository, commits string) (taskbuild.Recipe, error) {
	out, err := taskbuild.Git(ctx, repository, "rev-list", "-n", "1", "--end-of-options", commits, "--")
	commit := strings.TrimSpace(string(out))
	if err == nil && commit == "" {
		err = relabel.Errorf(relabel.CodeInvalid, "%q has no commits in %s", commits, repository)
	}
	if err != nil {
		return taskbuild.Recipe{}, err
	}
	r, ok, err := Fitting(ctx, repository, commit)
	if err == nil && !ok {
		err = relabel.Errorf(relabel.CodeInvalid,
			"no built-in recipe fits %s: it has no go.mod, Cargo.toml, pom.xml, build.gradle, package.json with a known test runner, or Python tests; write a recipe file (--recipe, see docs/building-tasks.md)",
			fmt.Sprintf("%s at %.12s", repository, commit))
	}
	return r, err
}

// Fitting returns the recipe for a repository at a commit; ok is false if none fits.
func Fitting(ctx context.Context, repository, commit string) (r taskbuild.Recipe, ok bool, err error) {
	t, err := TreeAt(ctx, repository, commit)
	if err != nil {
		return r, false, err
	}
	for _, detect := range detectors {
		if r, ok := detect(t); ok {
			return r, true, nil
		}
	}
	return r, false, nil
}

// Limits of built-in recipes.
const (
	testSeconds  = 600
	buildSeconds = 1800
	workdir      = "/testbed"
)
