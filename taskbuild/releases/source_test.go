package releases

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"relabel/taskbuild"
)

// packageOf are the files of the older release of the package in each ecosystem, and those that the newer one
// changes.
func packageOf(e Ecosystem, version string) (old, changed tree) {
	switch e {
	case PyPI:
		return tree{"pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n",
				"backend.py": strings.ReplaceAll(backend, "VERSION", version), "PKG-INFO": "Name: demo\nVersion: " + version + "\n",
				"demo.py": "def f(): return 1\n", "about.py": "__version__ = '" + version + "'\n", "tests/test_demo.py": "def test(): pass\n"},
			tree{"demo.py": "def f(): return 2\n", "tests/test_demo.py": "def test(): assert demo.f() == 2\n"}
	case NPM:
		return tree{"package.json": `{"name": "demo", "version": "` + version + `"}`, "index.js": "module.exports = 1\n", "test/a.js": "require('..')\n"},
			tree{"index.js": "module.exports = 2\n", "test/a.js": "require('..') === 2\n"}
	case Crates:
		return tree{"Cargo.toml": "[package]\nname = \"demo\"\nversion = \"" + version + "\"\n", "src/lib.rs": "pub fn f() -> i32 { 1 }\n", "tests/a.rs": "// a\n"},
			tree{"src/lib.rs": "pub fn f() -> i32 { 2 }\n", "tests/a.rs": "// b\n"}
	}
	return tree{"go.mod": "module example.com/demo\n", "demo.go": "package demo\n", "demo_test.go": "package demo\n"},
		tree{"demo.go": "package demo // fixed\n", "demo_test.go": "package demo // test\n"}
}

// recipe sorts the files of all ecosystems.
var recipe = taskbuild.Recipe{Name: "test", Image: "i", Workdir: "/testbed", TestCommand: "t", Tests: "all", LogParser: "pytest", TestSeconds: 1, BuildSeconds: 1,
	TestFiles: []string{"tests/**", "test/**", "**/*_test.go"}, SourceFiles: []string{"**/*.py", "**/*.js", "**/*.rs", "**/*.go"}}

func detect(context.Context, string, string) (taskbuild.Recipe, error) { return recipe, nil }

// items collects the items of a list.
func items(t *testing.T, folder string, list ...Entry) []taskbuild.Item {
	t.Helper()
	source := New(Options{Entries: list, Folder: folder, Jobs: 2, Detect: detect, Check: func(taskbuild.Recipe) error { return nil }})
	var all []taskbuild.Item
	for item, err := range source.Items(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// pairOf publishes two releases and returns the entry of a list.
func pairOf(t *testing.T, s *standIn, e Ecosystem) Entry {
	from, to, name := "1.0.0", "1.0.1", "demo"
	if e == Go {
		from, to, name = "v1.0.0", "v1.0.1", "example.com/demo"
	}
	old, _ := packageOf(e, from)
	next, changed := packageOf(e, to)
	return Entry{Ecosystem: e, Package: name, From: from, To: to, ProblemStatement: "f is wrong.\nMore.",
		FromSHA256: Hashes{s.publish(t, e, from, old)}, ToSHA256: Hashes{s.publish(t, e, to, next.with(changed))}}
}

func TestTwoReleasesBecomeACandidate(t *testing.T) {
	for e, sourceFile := range map[Ecosystem]string{PyPI: "demo.py", NPM: "index.js", Crates: "src/lib.rs", Go: "demo.go"} {
		t.Run(string(e), func(t *testing.T) {
			s := startStandIn(t)
			entry, folder := pairOf(t, s, e), t.TempDir()
			item := items(t, folder, entry)[0]
			if item.Refusal != nil {
				t.Fatalf("%+v", *item.Refusal)
			}
			c := item.Candidate
			if files := changedFiles(c.Patch); files != sourceFile {
				t.Errorf("the patch changes %s, expected only %s", files, sourceFile)
			}
			if len(c.TestFiles) != 1 || changedFiles(c.TestPatch) != c.TestFiles[0] {
				t.Errorf("the test patch changes %s, the test files are %v", changedFiles(c.TestPatch), c.TestFiles)
			}
			if c.Title != "f is wrong." || c.Origin != taskbuild.OriginRelease || c.Recipe.Name != "test" {
				t.Errorf("the candidate is %+v", c)
			}
			onlyBase(t, c)
			if e == Go { // the commit is the same elsewhere
				if again := items(t, t.TempDir(), entry)[0].Candidate; again.Base != c.Base || again.Patch != c.Patch {
					t.Errorf("another build gives the commit %s instead of %s, or another patch", again.Base, c.Base)
				}
			}
			s.files = nil // a second build needs no registry
			if err := os.RemoveAll(filepath.Join(folder, "archives")); err != nil {
				t.Fatal(err)
			}
			if again := items(t, folder, entry)[0]; again.Refusal != nil || again.Candidate.Base != c.Base || again.Candidate.Patch != c.Patch {
				t.Errorf("the second build gives %+v", again)
			}
		})
	}
}

// changedFiles are the files of a patch, joined by spaces.
func changedFiles(patch string) string {
	var files []string
	for line := range strings.Lines(patch) {
		if rest, ok := strings.CutPrefix(line, "+++ b/"); ok {
			files = append(files, strings.TrimSpace(rest))
		}
	}
	return strings.Join(files, " ")
}

// onlyBase checks that a candidate's repository has its base commit and no other object of the fix.
func onlyBase(t *testing.T, c taskbuild.Candidate) {
	t.Helper()
	out, err := exec.Command("git", "--git-dir", c.Repository, "cat-file", "--batch-all-objects", "--batch-check").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if n := strings.Count(string(out), " commit "); n != 1 || !strings.Contains(string(out), c.Base+" commit") {
		t.Errorf("the repository has %d commits:\n%s", n, out)
	}
	for line := range strings.Lines(c.Patch) {
		if name, ok := strings.CutPrefix(line, "index "); ok {
			_, fixed, _ := strings.Cut(strings.Fields(name)[0], "..")
			if strings.Contains("\n"+string(out), "\n"+fixed) {
				t.Errorf("the repository has the fixed file %s", fixed)
			}
		}
	}
}

func TestAPairThatCannotBeHadIsRefusedAndTheOthersGoOn(t *testing.T) {
	s := startStandIn(t)
	good := pairOf(t, s, Go)
	unpinned, wrong, missing, same := good, good, good, good
	unpinned.ToSHA256 = nil
	wrong.FromSHA256 = Hashes{hash}
	missing.To, missing.ToSHA256 = "v9.0.0", nil
	same.FromSHA256, same.To = good.FromSHA256, "v1.0.2"
	old, _ := packageOf(Go, "")
	same.ToSHA256 = Hashes{s.publish(t, Go, "v1.0.2", old)}
	for i, item := range items(t, t.TempDir(), unpinned, wrong, missing, same, good) {
		want := []string{
			"to_sha256: is required; the registry has " + good.ToSHA256[0],
			"from_sha256: is " + hash + ", but the registry has " + good.FromSHA256[0],
			"v9.0.0", "", "",
		}[i]
		switch {
		case i == 4:
			if item.Refusal != nil {
				t.Errorf("the good pair is refused: %+v", *item.Refusal)
			}
		case item.Refusal == nil:
			t.Errorf("pair %d is not refused", i)
		case i == 3 && item.Refusal.Reason != taskbuild.ReasonNoSource:
			t.Errorf("releases without a difference are refused as %+v", *item.Refusal)
		case !strings.Contains(item.Refusal.Detail, want):
			t.Errorf("pair %d is refused with %q, expected %q", i, item.Refusal.Detail, want)
		}
	}
}

func TestAMissingClientIsNamed(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(git, filepath.Join(dir, "git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for e, client := range map[Ecosystem]string{PyPI: "python3", NPM: "npm", Crates: "cargo", Maven: "mvn"} {
		name := map[bool]string{true: "g:a", false: "demo"}[e == Maven]
		item := items(t, t.TempDir(), Entry{Ecosystem: e, Package: name, From: "1.0", To: "1.1", ProblemStatement: "p"})[0]
		if item.Refusal == nil || !strings.Contains(item.Refusal.Detail, client+" is not on the PATH; install it") {
			t.Errorf("%s without its client gives %+v", e, item.Refusal)
		}
	}
}

func TestAMavenReleaseBecomesTheTreeOfAProject(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, content := range [][]byte{
		[]byte("<project/>"),
		zipOf(t, tree{"META-INF/MANIFEST.MF": "m", "META-INF/maven/g/a/pom.xml": "p", "META-INF/NOTICE.txt": "n", "org/A.java": "class A {}", "org/a.properties": "x"}.members("")...),
		zipOf(t, tree{"org/ATest.java": "class ATest {}", "org/data.txt": "d"}.members("")...),
	} {
		files = append(files, filepath.Join(dir, []string{"pom", "sources", "tests"}[i]))
		if err := os.WriteFile(files[i], content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	into := t.TempDir()
	if err := unpackMaven(release{"g:a", "1"}, files, into); err != nil {
		t.Fatal(err)
	}
	var found []string
	err := filepath.WalkDir(into, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, strings.TrimPrefix(path, into+"/"))
		}
		return err
	})
	want := "pom.xml src/main/java/org/A.java src/main/resources/META-INF/NOTICE.txt src/main/resources/org/a.properties " +
		"src/test/java/org/ATest.java src/test/resources/org/data.txt"
	if got := strings.Join(found, " "); err != nil || got != want {
		t.Errorf("the tree has\n%s (%v), expected\n%s", got, err, want)
	}
}
