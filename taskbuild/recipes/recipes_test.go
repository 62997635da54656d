package recipes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel/taskbuild"
	"relabel/taskbuild/recipes"
)

// detect returns the recipe for a repository with these files, given as name, content, ….
func detect(t *testing.T, files ...string) taskbuild.Recipe {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@invalid", "commit", "-q", "-m", "Release"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	r, err := recipes.Detect(t.Context(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Errorf("the recipe %s is wrong: %v", r.Name, err)
	}
	return r
}

func TestOldCommitsOfAGoModuleAreBuiltByTheirFirstPath(t *testing.T) {
	for path, want := range map[string]string{
		"example.com/shelf": "example.com/shelf ", "example.com/shelf/v3": "example.com/shelf ", "gopkg.in/shelf.v2": "gopkg.in/shelf.v2 ",
	} {
		r := detect(t, "go.mod", "module "+path+"\n", "a.go", "package a\n", "a_test.go", "package a\n")
		if commands := strings.Join(r.Dependencies, "\n"); !strings.Contains(commands, "go mod init "+want) {
			t.Errorf("%s: %s", path, commands)
		}
	}
}
