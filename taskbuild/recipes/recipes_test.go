package recipes_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel"
	"relabel/taskbuild"
	"relabel/taskbuild/recipes"
)

// detect returns the recipe for a repository with these files, given as name, content, ….
func detect(t *testing.T, files ...string) taskbuild.Recipe {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	commit(t, dir, files...)
	r, err := recipes.Detect(t.Context(), dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Errorf("the recipe %s is wrong: %v", r.Name, err)
	}
	return r
}

// commit writes files, given as name, content, …, and commits them.
func commit(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "Release")
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@invalid"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
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

func TestRecipeOfARangeFitsItsNewestCommit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	commit(t, dir, "test_a.py", "assert 1\n")
	git(t, dir, "tag", "v1")
	commit(t, dir, "go.mod", "module example.com/shelf\n", "a_test.go", "package a\n")
	for commits, want := range map[string]string{"v1..main": "go", "main": "go", "v1": "pytest"} {
		if r, err := recipes.Detect(t.Context(), dir, commits); err != nil || r.Name != want {
			t.Errorf("%s: %s, %v", commits, r.Name, err)
		}
	}
	if _, err := recipes.Detect(t.Context(), dir, "main..v1"); relabel.CodeOf(err) != relabel.CodeInvalid {
		t.Errorf("a range without commits: %v", err)
	}
}

func TestReleasesOfAPackageItselfBecomeLinks(t *testing.T) {
	for _, name := range []string{"shelf", "@acme/shelf"} {
		r := detect(t, "package.json", `{"name": "`+name+`", "scripts": {"test": "mocha"}}`, "test/a.js", "")
		dir := t.TempDir()
		for _, file := range []string{"node_modules/" + name + "/index.js", "node_modules/gulp/node_modules/" + name + "/index.js", "node_modules/other/index.js"} {
			path := filepath.Join(dir, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		command := r.Dependencies[len(r.Dependencies)-1]
		for range 2 { // the second time, there is nothing to replace
			cmd := exec.Command("bash", "-eo", "pipefail", "-c", command)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
		}
		if target, err := os.Readlink(filepath.Join(dir, "node_modules", name)); err != nil || target != r.Workdir {
			t.Errorf("%s: %s, %v", name, target, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "node_modules/gulp/node_modules", name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of another package: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "node_modules/other/index.js")); err != nil {
			t.Error(err)
		}
	}
}

func TestOptionsOfMochaAreKept(t *testing.T) {
	for script, want := range map[string]string{
		`"test": "mocha --reporter dot --bail --ui qunit test/"`:                        "npx mocha --ui qunit --reporter spec {tests}",
		`"lint": "eslint .", "test": "npm run lint && nyc mocha -r ts-node/register x"`: "npx mocha -r ts-node/register --reporter spec {tests}",
		`"test": "npm run lint", "test:unit": "mocha --require=should && rm -r tmp"`:    "npx mocha --require=should --reporter spec {tests}",
	} {
		r := detect(t, "package.json", `{"scripts": {`+script+`}, "devDependencies": {"mocha": "1"}}`, "test/a.js", "")
		if r.TestCommand != want {
			t.Errorf("%s: %s", script, r.TestCommand)
		}
	}
}

func TestMavenRunsWithoutPluginsThatJudgeTheProject(t *testing.T) {
	r := detect(t, "pom.xml", "<project/>", "src/test/java/ShelfTest.java", "")
	commands := append([]string{r.TestCommand}, r.Dependencies[1:]...)
	for _, skip := range []string{"-Denforcer.skip", "-Drat.skip", "-Dcheckstyle.skip", "-Dspotbugs.skip", "-Djapicmp.skip"} {
		for _, command := range commands {
			if !strings.Contains(command, skip) {
				t.Errorf("no %s in %s", skip, command)
			}
		}
	}
	if !strings.Contains(r.TestCommand, " -o ") {
		t.Errorf("the tests use the network: %s", r.TestCommand)
	}
}

// The run of a test class of each module while dependencies are installed has Maven fetch what runs tests.
func TestMavenRunsATestClassOfEachModuleToInstallDependencies(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"src/test/java/org/shelf/ShelfTest.java", "src/test/java/org/shelf/BookTest.java"}, "-Dtest=BookTest\n"},
		{[]string{"b/src/test/java/TestShelf.java", "a/src/test/java/AbstractTest.java", "a/src/test/java/BookTest.java"}, "-Dtest=BookTest,TestShelf\n"},
		{[]string{"src/main/java/LatestTest.java"}, "-Dtest=None\n"},
	} {
		r := detect(t, "pom.xml", "<project/>")
		dir := t.TempDir()
		contents := map[string]string{"tree/pom.xml": "", "bin/mvn": "#!/bin/sh\necho \"$@\"\n"}
		for _, file := range c.files {
			contents["tree/"+file] = ""
		}
		for name, content := range contents {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", "-eo", "pipefail", "-c", strings.Join(r.Dependencies, "\n"))
		cmd.Dir, cmd.Env = filepath.Join(dir, "tree"), append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v\n%s", c.files, err, out)
		}
	}
}

func TestCargoPrefersCratesThatThisRustCompiles(t *testing.T) {
	r := detect(t, "Cargo.toml", "[package]\nname = \"shelf\"\n", "src/lib.rs", "")
	if got := r.Environment["CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS"]; got != "fallback" {
		t.Errorf("the newest crates are chosen: %q", got)
	}
}
