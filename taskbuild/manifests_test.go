package taskbuild

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDependenciesAreThoseSinceWhichManifestsAreTheSame(t *testing.T) {
	dir := t.TempDir()
	commit := func(manifest string) string {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
			if _, err := Git(t.Context(), dir, args...); err != nil {
				t.Fatal(err)
			}
		}
		hash, err := gitWord(t.Context(), dir, "rev-parse", "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	if _, err := Git(t.Context(), dir, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	commit(`{"version": "1.0.0", "dependencies": {"a": "1"}}`)
	second := commit(`{"version": "1.0.0", "dependencies": {"a": "2"}}`)
	commit(`{"version": "1.0.1", "dependencies": {"a": "2"}}`)
	last := commit(`{"dependencies": {"a": "2"}, "version": "1.0.2"}`)
	recipe := Recipe{Dependencies: []string{"npm install"}, Manifests: []string{"package.json"}}
	if got, err := dependencyCommit(t.Context(), Candidate{Repository: dir, Base: last}, recipe); err != nil || got != second {
		t.Errorf("%s, want %s: %v", got, second, err)
	}
	changed := commit(`{"version": "1.0.2", "dependencies": {"a": "3"}}`)
	if got, err := dependencyCommit(t.Context(), Candidate{Repository: dir, Base: changed}, recipe); err != nil || got != changed {
		t.Errorf("%s, want %s: %v", got, changed, err)
	}
}

func TestTheVersionOfThePackageItselfDoesNotCount(t *testing.T) {
	lock := `{"version": "V", "packages": {"": {"version": "V", "name": "a"}, "node_modules/b": {"version": "2"}}}`
	one, two := withoutVersion([]byte(strings.ReplaceAll(lock, "V", "1.0"))), withoutVersion([]byte(strings.ReplaceAll(lock, "V", "1.1")))
	if one != two || !strings.Contains(one, `"version":"2"`) {
		t.Errorf("%s and %s", one, two)
	}
	if got := withoutVersion([]byte("{")); got != "{" {
		t.Errorf("%s", got)
	}
}
