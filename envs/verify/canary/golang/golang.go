// Package golang writes canaries for go test.
package golang

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
)

// Canaries are canaries for go test, in each package with tests of the task: a file with usual
// tests, a file with claims (see goClaims), and some at the end of the task's own test files.
type Canaries struct{}

// goPackageClause matches the name of a file's package.
var goPackageClause = regexp.MustCompile(`(?m)^package[ \t]+(\w+)`)

// Plant writes the canaries of a run.
func (Canaries) Plant(g canary.Garden) (canary.Planting, bool) {
	call, found := testcmd.FindCall(g.Command, callsGoTest)
	if !found && strings.Contains(g.Command, "-run") {
		return canary.Planting{}, false
	}
	result := canary.Planting{Command: g.Command}
	c := goCode{Namer: canary.NewNamer(g.Random)}
	byFolder := goTestFiles(g)
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		if !found || selectsGo(call, folder) {
			result.Files = append(result.Files, c.files(g, folder, byFolder[folder])...)
		}
	}
	if len(result.Files) == 0 {
		return canary.Planting{}, false
	}
	result.Canaries = c.canaries
	if found {
		result.Command = call.With(goArguments(call, c.functions)...)
		if call.Alone {
			result.Failure = 1
		}
	}
	return result, true
}

// callsGoTest reports whether a word is the "test" of "go test".
func callsGoTest(words []testcmd.Word, at int) bool {
	return at > 0 && words[at].Text == "test" && path.Base(words[at-1].Text) == "go" && words[at-1].Command == words[at].Command
}

// goTestFiles returns test files by folder: those of the test patch, otherwise those that contain
// tests of FAIL_TO_PASS.
func goTestFiles(g canary.Garden) map[string][]string {
	isTest := func(file string) bool { return strings.HasSuffix(file, "_test.go") }
	files := g.PatchedTests(isTest)
	if len(files) == 0 {
		files = g.Holding(isTest, goFunctions(g.Task.FailToPass))
	}
	byFolder := map[string][]string{}
	for _, file := range files {
		byFolder[path.Dir(file)] = append(byFolder[path.Dir(file)], file)
	}
	return byFolder
}

// goFunctions returns how the functions of ids such as TestA/b and example.com/p:TestA begin.
func goFunctions(ids []string) []string {
	var declared []string
	for _, id := range ids {
		name, _, _ := strings.Cut(id[strings.LastIndexByte(id, ':')+1:], "/")
		declared = append(declared, "func "+name+"(")
	}
	return declared
}

// selectsGo reports whether the call tests the package in a folder. A call without packages tests
// the current folder. A package that the call names by import path is assumed to be in the folder.
func selectsGo(c testcmd.Call, folder string) bool {
	named := false
	for i, w := range c.Args {
		value := i > 0 && (c.Args[i-1].Text == "-run" || c.Args[i-1].Text == "--run")
		if value || strings.HasPrefix(w.Text, "-") || !(strings.HasPrefix(w.Text, ".") || strings.Contains(w.Text, "/")) {
			continue
		}
		named = true
		if !strings.HasPrefix(w.Text, ".") || goPatternHolds(path.Join(c.Folder(), w.Text), folder) {
			return true
		}
	}
	return !named && path.Clean(c.Folder()) == folder
}

// goPatternHolds reports whether a pattern, which may end with "...", includes a folder.
func goPatternHolds(pattern, folder string) bool {
	above, all := strings.CutSuffix(pattern, "...")
	if !all {
		return path.Clean(pattern) == folder
	}
	above = strings.TrimSuffix(above, "/")
	return above == "" || above == "." || folder == above || strings.HasPrefix(folder, above+"/")
}

// goArguments returns the arguments with which the call also runs the functions, and continues
// after a failure.
func goArguments(c testcmd.Call, functions []string) []string {
	var added []string
	for i, w := range c.Args {
		option, value, joined := strings.Cut(w.Text, "=")
		switch strings.TrimPrefix(strings.TrimLeft(option, "-"), "test.") {
		case "args":
			return nil
		case "failfast":
			added = append(added, "-failfast=false")
		case "run":
			if !joined && i+1 < len(c.Args) {
				value = c.Args[i+1].Text
			}
			added = append(added, "-run="+goSelection(value, functions))
		}
	}
	return added
}

// goSelection extends the pattern of -run by functions. go test matches the names of functions
// with the part before the first slash.
func goSelection(pattern string, functions []string) string {
	first, rest, slash := strings.Cut(pattern, "/")
	extended := "(?:" + first + ")|^(?:" + strings.Join(functions, "|") + ")$"
	if slash {
		return extended + "/" + rest
	}
	return extended
}

// goCode writes the Go code of canaries.
type goCode struct {
	*canary.Namer
	functions []string
	canaries  []canary.Test
	called    int // tests of the task that canaries call
}

// files returns the canaries of a package, in separate files and at the end of its test files.
func (c *goCode) files(g canary.Garden, folder string, neighbours []string) []canary.File {
	var files []canary.File
	var contents [][]byte
	pkg := ""
	for _, name := range neighbours[:min(len(neighbours), canary.MaxNeighbours)] {
		content, ok := g.Read(name)
		clause := goPackageClause.FindSubmatch(content)
		if !ok || clause == nil {
			continue
		}
		if pkg == "" {
			pkg = string(clause[1])
		}
		contents = append(contents, content)
		if below, ok := c.below(g, name, content); ok {
			files = append(files, below)
		}
	}
	if pkg == "" {
		return nil
	}
	for i, content := range []string{c.usual(pkg), c.claims(g, folder, pkg, contents)} {
		name := path.Join(folder, c.Snake()+"_test.go")
		for g.Has(name) {
			name = path.Join(folder, c.Snake()+"_test.go")
		}
		if content != "" {
			files = append(files, canary.File{Path: name, Content: content, Claims: i > 0})
		}
	}
	return files
}

// usual is a file with canaries that report by each method of testing.T.
func (c *goCode) usual(pkg string) string {
	code := []string{c.plain("Errorf", false), c.plain("Errorf", true), c.plain("Fatalf", true), c.plain("Error", true), c.plain("Fatal", true),
		c.table(true), c.table(c.Random.IntN(2) == 0)}
	c.Shuffle(code)
	return fmt.Sprintf("package %s\n\nimport (\n\t\"strconv\"\n\t\"testing\"\n)\n\n", pkg) + strings.Join(code, "\n")
}

// goImportsTesting matches the import of testing under its own name.
var goImportsTesting = regexp.MustCompile(`(?m)^(?:import\s+|\s+)"testing"\s*$`)

// below is a test file of the task with canaries at its end, so that a takeover cannot distinguish
// them by the file.
func (c *goCode) below(g canary.Garden, name string, content []byte) (canary.File, bool) {
	if g.Left[canary.BelowKey] || !goImportsTesting.Match(content) {
		return canary.File{}, false
	}
	code := append(c.calls(g, name, content), c.plain("Errorf", true), c.plain("Fatalf", c.Random.IntN(2) == 0))
	c.Shuffle(code)
	return g.Below(c.Namer, name, content, "\n"+strings.Join(code, "\n")), true
}

// function draws the name of a test function.
func (c *goCode) function() string {
	name := "Test" + c.Camel()
	c.functions = append(c.functions, name)
	return name
}

// must records the expected result of a canary. If it must fail, it shows proof.
func (c *goCode) must(name string, fails bool, proof int) *canary.Test {
	c.canaries = append(c.canaries, canary.NewTest(name, "", fails, proof))
	return &c.canaries[len(c.canaries)-1]
}

// plain is a function with one comparison, which reports by a method of testing.T.
func (c *goCode) plain(method string, fails bool) string {
	format := ""
	if strings.HasSuffix(method, "f") {
		format = "\"got %d\", "
	}
	name, variable := c.function(), c.Pick(canary.Nouns)+"Of"
	s := c.Sum()
	c.must(name, fails, s.Result)
	return fmt.Sprintf("func %s(t *testing.T) {\n\t%s := %s\n\tif %s != %d {\n\t\tt.%s(%s%s)\n\t}\n}\n",
		name, variable, s.Code, variable, c.Claimed(s, fails), method, format, variable)
}

// table is a function with two subtests. The second may fail.
func (c *goCode) table(fails bool) string {
	name, factor, rest := c.function(), c.Between(20011, 99730), c.Between(11, 997)
	good, bad := c.Between(103, 500), c.Between(501, 990)
	result := bad*factor + rest
	limit := result + 1
	if fails {
		limit = result - c.Between(1, 900)
	}
	c.must(name, fails, result)
	c.must(fmt.Sprintf("%s/%d", name, good), false, 0)
	c.must(fmt.Sprintf("%s/%d", name, bad), fails, result)
	return fmt.Sprintf("func %s(t *testing.T) {\n\tfor _, given := range []int{%d, %d} {\n\t\tt.Run(strconv.Itoa(given), func(t *testing.T) {\n"+
		"\t\t\tif got := given*%d + %d; got >= %d {\n\t\t\t\tt.Errorf(\"got %%d\", got)\n\t\t\t}\n\t\t})\n\t}\n}\n",
		name, good, bad, factor, rest, limit)
}
