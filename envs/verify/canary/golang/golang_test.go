package golang

import (
	"go/format"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"relabel"
	"relabel/envs/verify/canary"
	"relabel/envs/verify/tree"
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
func goGarden(command string) canary.Garden {
	files := map[string]string{"calc_test.go": "package calc\n", "sub/sub_test.go": "// Copyright\n\npackage sub_test\n"}
	return canary.Garden{
		Task: relabel.Task{TestPatch: goTestPatch, Workdir: "/testbed"}, Command: command, Random: rand.New(rand.NewPCG(1, 2)),
		Has:  func(name string) bool { return files[name] != "" },
		Read: func(name string) ([]byte, bool) { return []byte(files[name]), files[name] != "" },
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
		p, ok := Canaries{}.Plant(goGarden(command))
		var folders []string
		for _, f := range p.Files {
			folder, _, below := strings.Cut(f.Path, "/")
			if !below {
				folder = "."
			}
			folders = append(folders, folder)
			if _, err := format.Source([]byte(f.Content)); err != nil {
				t.Errorf("%s is no Go: %v\n%s", f.Path, err, f.Content)
			}
			if clause := "package " + map[string]string{".": "calc\n", "sub": "sub_test\n"}[folder]; !strings.HasPrefix(f.Content, clause) {
				t.Errorf("%s does not begin with %s", f.Path, clause)
			}
		}
		if !ok || strings.Join(folders, " ") != strings.Join(want, " ") {
			t.Errorf("%s: canaries in %v, want %v", command, folders, want)
		}
	}
}

// TestEachComparisonThatGoTestsCallHasACanaryThatFails has test files that compare with
// libraries, under names of their own too.
func TestEachComparisonThatGoTestsCallHasACanaryThatFails(t *testing.T) {
	for content, want := range map[string]string{
		"import \"reflect\"\nfunc f() { reflect.DeepEqual(1, 2) }":                                            "if !reflect.DeepEqual([]int{",
		"import r \"reflect\"\nfunc f() { r.DeepEqual(1, 2) }":                                                "r \"reflect\"",
		"import e \"errors\"\nfunc f() { e.Is(a, b) }":                                                        "if !e.Is(errors.New(strconv.Itoa(",
		"import \"github.com/stretchr/testify/require\"\nfunc f() { require.NoErrorf(t, err, \"a\") }":        "require.NoErrorf(t, errors.New(strconv.Itoa(",
		"import \"github.com/stretchr/testify/assert\"\nfunc f() { is := assert.New(t); is.Equal(1, 2) }":     "assert.Equal(t, ",
		"import \"github.com/stretchr/testify/suite\"\nfunc (s *S) f() { s.Require().Len(a, 2) }":             "assert.Len(t, []int{",
		"import \"github.com/google/go-cmp/cmp\"\nfunc f() { cmp.Diff(1, 2) }":                                "if diff := cmp.Diff([]int{",
		"import \"gotest.tools/v3/assert\"\nfunc f() { assert.NilError(t, err) }":                             "assert.NilError(t, errors.New(",
		"import . \"github.com/onsi/gomega\"\nfunc f() { g.Expect(1).To(Equal(1)) }":                          "gomega.NewWithT(t).Expect(",
		"import \"strings\"\nimport \"testing\"\nfunc TestA(t *testing.T) { strings.Contains(\"a\", \"b\") }": "if !strings.Contains(strconv.Itoa(",
	} {
		g := goGarden("go test -v .")
		g.Read = func(string) ([]byte, bool) { return []byte("package calc\n\n" + content + "\n"), true }
		p, ok := Canaries{}.Plant(g)
		at := slices.IndexFunc(p.Files, func(f canary.File) bool { return f.Claims })
		if !ok || at < 0 || !strings.Contains(p.Files[at].Content, want) {
			t.Errorf("%s: no canary has %q\n%+v", content, want, p.Files)
			continue
		}
		for _, f := range p.Files {
			if _, err := format.Source([]byte(f.Content)); err != nil {
				t.Errorf("%s is not Go: %v\n%s", f.Path, err, f.Content)
			}
		}
		c := p.Canaries[slices.IndexFunc(p.Canaries, func(c canary.Test) bool { return c.Key != "" })]
		g.Left = map[string]bool{c.Key: true}
		if p, _ := (Canaries{}).Plant(g); slices.ContainsFunc(p.Files, func(f canary.File) bool { return f.Claims }) {
			t.Errorf("%s is not left out", c.Key)
		}
	}
}

func TestCanariesOfGoStandInTheTestFilesToo(t *testing.T) {
	const content = "package calc\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"
	g := goGarden("go test -v -run TestA .")
	g.Read = func(string) ([]byte, bool) { return []byte(content), true }
	p, _ := Canaries{}.Plant(g)
	first := p.Files[0]
	if first.Path != "calc_test.go" || !first.Shared || !strings.HasPrefix(first.Content, content+"\nfunc Test") {
		t.Errorf("%+v", first)
	}
	for _, c := range p.Canaries {
		if name, _, _ := strings.Cut(c.Name, "/"); !strings.Contains(p.Command, name) {
			t.Errorf("%s does not run %s", p.Command, name)
		}
	}
	g.Left = map[string]bool{canary.BelowKey: true}
	if p, _ := (Canaries{}).Plant(g); len(p.Files) != 1 || p.Files[0].Shared {
		t.Errorf("%+v", p.Files)
	}
}

func TestCanariesOfGoAreRunWhereTestsAreChosen(t *testing.T) {
	for command, want := range map[string]string{
		"go test -v -run TestAdd ./...":       "-run=(?:TestAdd)|^(?:Test",
		"go test -v -run=TestAdd/one ./...":   ")$/one",
		"go test -v -failfast ./... 2>&1":     "-failfast=false",
		"go test -run '^(TestA|TestB)$' -v .": "-run=(?:^(TestA|TestB)$)|^(?:Test",
	} {
		p, ok := Canaries{}.Plant(goGarden(command))
		if !ok || !strings.Contains(p.Command, want) || p.Failure != 1 {
			t.Errorf("%s: %v, exit code %d, %s", command, ok, p.Failure, p.Command)
		}
	}
	for _, command := range []string{"./run-tests.sh -run TestAdd", "make test RUN=-run"} {
		if _, ok := (Canaries{}).Plant(goGarden(command)); ok {
			t.Errorf("%s: nothing says that canaries are run", command)
		}
	}
}

func TestSomeCanariesOfGoFailAndSomePass(t *testing.T) {
	p, _ := Canaries{}.Plant(goGarden("go test -v ./..."))
	ends := map[relabel.TestStatus]int{}
	for _, c := range p.Canaries {
		ends[c.Status]++
		if c.Status == relabel.TestFailed && c.Proof == "" {
			t.Errorf("%s shows no value", c.Name)
		}
		for _, f := range p.Files {
			if c.Proof != "" && strings.Contains(f.Content, c.Proof) {
				t.Errorf("%s says %s in its file", c.Name, c.Proof)
			}
		}
	}
	if ends[relabel.TestFailed] == 0 || ends[relabel.TestPassed] == 0 || len(ends) != 2 {
		t.Errorf("%v", ends)
	}
}

func TestCanariesOfGoStandBesideTheTestsOfIdsWithoutATestPatch(t *testing.T) {
	g := goGarden("go test -v ./...")
	g.Task.TestPatch, g.Task.FailToPass = "", []string{"example.com/p/sub:TestSub/one"}
	g.Base = tree.NewPathSet([]string{"calc_test.go", "sub/sub_test.go", "sub/sub.go"})
	read := g.Read
	g.Read = func(name string) ([]byte, bool) {
		content, ok := read(name)
		if name == "sub/sub_test.go" {
			content = append(content, "func TestSub(t *testing.T) {}\n"...)
		}
		return content, ok
	}
	p, ok := Canaries{}.Plant(g)
	if !ok || len(p.Files) != 1 || !strings.HasPrefix(p.Files[0].Path, "sub/") {
		t.Errorf("%v %+v", ok, p.Files)
	}
}

// TestCanariesOfGoWaitForTheTestsThatAnEvaluationScriptWrites has test files that an evaluation
// script is still to write.
func TestCanariesOfGoWaitForTheTestsThatAnEvaluationScriptWrites(t *testing.T) {
	goes := goGarden("go test -v .")
	goes.Late, goes.Read = true, func(string) ([]byte, bool) { return []byte("package calc\n\nimport \"testing\"\n"), true }
	if p, _ := canary.Plant((Canaries{}), goes); len(p.Files) != 2 || p.Files[0].Below != "calc_test.go" || strings.Contains(p.Files[0].Content, "package") {
		t.Errorf("%+v", p.Files)
	}
}
