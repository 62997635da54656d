package verify

import (
	"go/format"
	"math/rand/v2"
	"slices"
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
		g.read = func(string) ([]byte, bool) { return []byte("package calc\n\n" + content + "\n"), true }
		p, ok := goCanaries{}.plant(g)
		at := slices.IndexFunc(p.files, func(f plantedFile) bool { return f.claims })
		if !ok || at < 0 || !strings.Contains(p.files[at].content, want) {
			t.Errorf("%s: no canary has %q\n%+v", content, want, p.files)
			continue
		}
		for _, f := range p.files {
			if _, err := format.Source([]byte(f.content)); err != nil {
				t.Errorf("%s is not Go: %v\n%s", f.path, err, f.content)
			}
		}
		c := p.canaries[slices.IndexFunc(p.canaries, func(c canaryTest) bool { return c.key != "" })]
		g.left = map[string]bool{c.key: true}
		if p, _ := (goCanaries{}).plant(g); slices.ContainsFunc(p.files, func(f plantedFile) bool { return f.claims }) {
			t.Errorf("%s is not left out", c.key)
		}
	}
}

func TestCanariesOfGoStandInTheTestFilesToo(t *testing.T) {
	const content = "package calc\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"
	g := goGarden("go test -v -run TestA .")
	g.read = func(string) ([]byte, bool) { return []byte(content), true }
	p, _ := goCanaries{}.plant(g)
	first := p.files[0]
	if first.path != "calc_test.go" || !first.shared || !strings.HasPrefix(first.content, content+"\nfunc Test") {
		t.Errorf("%+v", first)
	}
	for _, c := range p.canaries {
		if name, _, _ := strings.Cut(c.name, "/"); !strings.Contains(p.command, name) {
			t.Errorf("%s does not run %s", p.command, name)
		}
	}
	g.left = map[string]bool{belowKey: true}
	if p, _ := (goCanaries{}).plant(g); len(p.files) != 1 || p.files[0].shared {
		t.Errorf("%+v", p.files)
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
