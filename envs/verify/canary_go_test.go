package verify

import (
	"go/format"
	"math/rand/v2"
	"strings"
	"testing"

	"relabel"
)

const goTestPatch = `diff --git a/calc_test.go b/calc_test.go
--- a/calc_test.go
+++ b/calc_test.go
@@ -1 +1,2 @@
 package calc
+// more
diff --git a/sub/sub_test.go b/sub/sub_test.go
--- a/sub/sub_test.go
+++ b/sub/sub_test.go
@@ -1 +1,2 @@
 package sub_test
+// more
`

// goGarden is a repository with two packages whose tests the test patch changes.
func goGarden(command string) garden {
	files := map[string]string{"calc_test.go": "package calc\n", "sub/sub_test.go": "// Copyright\n\npackage sub_test\n"}
	return garden{
		task: relabel.Task{TestPatch: goTestPatch, Workdir: "/testbed"}, command: command, random: rand.New(rand.NewPCG(1, 2)),
		has:  func(name string) bool { return files[name] != "" },
		read: func(name string) ([]byte, bool) { return []byte(files[name]), files[name] != "" },
	}
}

func TestCanariesOfGoStandInEachTestedPackage(t *testing.T) {
	for command, want := range map[string][]string{
		"go test -v ./...":                {".", "sub"},
		"cd sub && go test -v":            {"sub"},
		"go test -v ./sub/...":            {"sub"},
		"go test -v .":                    {"."},
		"go test -v example.com/calc/...": {".", "sub"},
		"make test":                       {".", "sub"},
	} {
		p, ok := goCanaries{}.plant(goGarden(command))
		var folders []string
		for _, f := range p.files {
			folder, _, below := strings.Cut(f.path, "/")
			if !below {
				folder = "."
			}
			folders = append(folders, folder)
			if _, err := format.Source([]byte(f.content)); err != nil {
				t.Errorf("%s is no Go: %v\n%s", f.path, err, f.content)
			}
			if clause := "package " + map[string]string{".": "calc\n", "sub": "sub_test\n"}[folder]; !strings.HasPrefix(f.content, clause) {
				t.Errorf("%s does not begin with %s", f.path, clause)
			}
		}
		if !ok || strings.Join(folders, " ") != strings.Join(want, " ") {
			t.Errorf("%s: canaries in %v, want %v", command, folders, want)
		}
	}
}

func TestCanariesOfGoAreRunWhereTestsAreChosen(t *testing.T) {
	for command, want := range map[string]string{
		"go test -v -run TestAdd ./...":       "-run=(?:TestAdd)|^(?:Test",
		"go test -v -run=TestAdd/one ./...":   ")$/one",
		"go test -v -failfast ./... 2>&1":     "-failfast=false",
		"go test -run '^(TestA|TestB)$' -v .": "-run=(?:^(TestA|TestB)$)|^(?:Test",
	} {
		p, ok := goCanaries{}.plant(goGarden(command))
		if !ok || !strings.Contains(p.command, want) || p.failure != 1 {
			t.Errorf("%s: %v, exit code %d, %s", command, ok, p.failure, p.command)
		}
	}
	for _, command := range []string{"./run-tests.sh -run TestAdd", "make test RUN=-run"} {
		if _, ok := (goCanaries{}).plant(goGarden(command)); ok {
			t.Errorf("%s: nothing says that canaries are run", command)
		}
	}
}

func TestSomeCanariesOfGoFailAndSomePass(t *testing.T) {
	p, _ := goCanaries{}.plant(goGarden("go test -v ./..."))
	ends := map[relabel.TestStatus]int{}
	for _, c := range p.canaries {
		ends[c.status]++
		if c.status == relabel.TestFailed && c.proof == "" {
			t.Errorf("%s shows no value", c.name)
		}
		for _, f := range p.files {
			if c.proof != "" && strings.Contains(f.content, c.proof) {
				t.Errorf("%s says %s in its file", c.name, c.proof)
			}
		}
	}
	if ends[relabel.TestFailed] == 0 || ends[relabel.TestPassed] == 0 || len(ends) != 2 {
		t.Errorf("%v", ends)
	}
}

func TestCanariesOfGoStandBesideTheTestsOfIdsWithoutATestPatch(t *testing.T) {
	g := goGarden("go test -v ./...")
	g.task.TestPatch, g.task.FailToPass = "", []string{"example.com/p/sub:TestSub/one"}
	g.base = newPathSet([]string{"calc_test.go", "sub/sub_test.go", "sub/sub.go"})
	read := g.read
	g.read = func(name string) ([]byte, bool) {
		content, ok := read(name)
		if name == "sub/sub_test.go" {
			content = append(content, "func TestSub(t *testing.T) {}\n"...)
		}
		return content, ok
	}
	p, ok := goCanaries{}.plant(g)
	if !ok || len(p.files) != 1 || !strings.HasPrefix(p.files[0].path, "sub/") {
		t.Errorf("%v %+v", ok, p.files)
	}
}
