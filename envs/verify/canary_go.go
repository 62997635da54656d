package verify

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel"
)

// goCanaries are canaries for go test, in each package whose tests the test patch changes or the
// task's ids name: a file with the usual ones, one with claims (see goClaims), and some at the
// end of the task's own test files. The package's own test binary runs them.
type goCanaries struct{}

func init() { canaryMakers["gotest"] = goCanaries{} }

// goPackageClause finds the name of a file's package.
var goPackageClause = regexp.MustCompile(`(?m)^package[ \t]+(\w+)`)

func (goCanaries) plant(g garden) (planting, bool) {
	call, found := findCall(g.command, callsGoTest)
	if !found && strings.Contains(g.command, "-run") {
		return planting{}, false
	}
	result := planting{command: g.command}
	c := goCode{namer: newNamer(g.random)}
	byFolder := goTestFiles(g)
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		if !found || call.selectsGo(folder) {
			result.files = append(result.files, c.files(g, folder, byFolder[folder])...)
		}
	}
	if len(result.files) == 0 {
		return planting{}, false
	}
	result.canaries = c.canaries
	if found {
		result.command = call.with(call.goArguments(c.functions)...)
		if call.alone {
			result.failure = 1
		}
	}
	return result, true
}

// callsGoTest reports whether a word is the "test" of "go test".
func callsGoTest(words []word, at int) bool {
	return at > 0 && words[at].text == "test" && path.Base(words[at-1].text) == "go" && words[at-1].command == words[at].command
}

// goTestFiles returns the test files of each package that the task names, by folders: those of
// the test patch, or else those that hold its FAIL_TO_PASS tests.
func goTestFiles(g garden) map[string][]string {
	byFolder := map[string][]string{}
	for _, f := range patchFiles(g.task.TestPatch) {
		if !f.deleted && strings.HasSuffix(f.path, "_test.go") {
			byFolder[path.Dir(f.path)] = append(byFolder[path.Dir(f.path)], f.path)
		}
	}
	if len(byFolder) == 0 {
		isTest := func(file string) bool { return strings.HasSuffix(file, "_test.go") }
		for _, file := range g.holding(isTest, goFunctions(g.task.FailToPass)) {
			byFolder[path.Dir(file)] = append(byFolder[path.Dir(file)], file)
		}
	}
	return byFolder
}

// goFunctions returns how the functions of test ids such as TestA/b and
// example.com/p:TestA are declared.
func goFunctions(ids []string) []string {
	var declared []string
	for _, id := range ids {
		name, _, _ := strings.Cut(id[strings.LastIndexByte(id, ':')+1:], "/")
		declared = append(declared, "func "+name+"(")
	}
	return declared
}

// selectsGo reports whether the packages that the call names include the one in a folder;
// without any it is the one of the current folder. A package that is named by its import path
// is taken to be it.
func (c runnerCall) selectsGo(folder string) bool {
	named := false
	for i, w := range c.args {
		value := i > 0 && (c.args[i-1].text == "-run" || c.args[i-1].text == "--run")
		if value || strings.HasPrefix(w.text, "-") || !(strings.HasPrefix(w.text, ".") || strings.Contains(w.text, "/")) {
			continue
		}
		named = true
		if !strings.HasPrefix(w.text, ".") || goPatternHolds(path.Join(c.folder(), w.text), folder) {
			return true
		}
	}
	return !named && path.Clean(c.folder()) == folder
}

// goPatternHolds reports whether a folder is that of the pattern, or below one that ends
// with "...".
func goPatternHolds(pattern, folder string) bool {
	above, all := strings.CutSuffix(pattern, "...")
	if !all {
		return path.Clean(pattern) == folder
	}
	above = strings.TrimSuffix(above, "/")
	return above == "" || above == "." || folder == above || strings.HasPrefix(folder, above+"/")
}

// goArguments returns what the call needs so that it runs the functions too, and runs all
// tests after one of them has failed.
func (c runnerCall) goArguments(functions []string) []string {
	var added []string
	for i, w := range c.args {
		option, value, joined := strings.Cut(w.text, "=")
		switch strings.TrimPrefix(strings.TrimLeft(option, "-"), "test.") {
		case "args":
			return nil
		case "failfast":
			added = append(added, "-failfast=false")
		case "run":
			if !joined && i+1 < len(c.args) {
				value = c.args[i+1].text
			}
			added = append(added, "-run="+goSelection(value, functions))
		}
	}
	return added
}

// goSelection extends the pattern of -run by functions. Only what stands before its first
// slash is matched with the names of functions.
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
	*namer
	functions []string
	canaries  []canaryTest
	called    int // how many tests of the task canaries call
}

// files are the canaries of a package, in files of their own beside its test files and at the
// end of these.
func (c *goCode) files(g garden, folder string, neighbours []string) []plantedFile {
	var files []plantedFile
	var contents [][]byte
	pkg := ""
	for _, name := range neighbours[:min(len(neighbours), maxNeighbours)] {
		content, ok := g.read(name)
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
		name := path.Join(folder, c.snake()+"_test.go")
		for g.has(name) {
			name = path.Join(folder, c.snake()+"_test.go")
		}
		if content != "" {
			files = append(files, plantedFile{path: name, content: content, claims: i > 0})
		}
	}
	return files
}

// usual is a file of the package with canaries that report in each way.
func (c *goCode) usual(pkg string) string {
	code := []string{c.plain("Errorf", false), c.plain("Errorf", true), c.plain("Fatalf", true), c.plain("Error", true), c.plain("Fatal", true),
		c.table(true), c.table(c.random.IntN(2) == 0)}
	c.random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
	return fmt.Sprintf("package %s\n\nimport (\n\t\"strconv\"\n\t\"testing\"\n)\n\n", pkg) + strings.Join(code, "\n")
}

// goImportsTesting finds the import of testing under its own name.
var goImportsTesting = regexp.MustCompile(`(?m)^(?:import\s+|\s+)"testing"\s*$`)

// below is a test file of the task with canaries at its end: a takeover that knows the files of
// the repository cannot tell them apart by the file.
func (c *goCode) below(g garden, name string, content []byte) (plantedFile, bool) {
	if g.left[belowKey] || !goImportsTesting.Match(content) {
		return plantedFile{}, false
	}
	code := append(c.calls(g, name, content), c.plain("Errorf", true), c.plain("Fatalf", c.random.IntN(2) == 0))
	c.random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
	return g.below(c.namer, name, content, "\n"+strings.Join(code, "\n")), true
}

// function draws the name of a test function.
func (c *goCode) function() string {
	name := "Test" + c.camel()
	c.functions = append(c.functions, name)
	return name
}

// must notes how a canary is to end; a failed one shows proof.
func (c *goCode) must(name string, fails bool, proof int) {
	test := canaryTest{name: name, status: relabel.TestPassed}
	if fails {
		test.status, test.proof = relabel.TestFailed, fmt.Sprint(proof)
	}
	c.canaries = append(c.canaries, test)
}

// plain is a function with one comparison, which reports by the method.
func (c *goCode) plain(method string, fails bool) string {
	format := ""
	if strings.HasSuffix(method, "f") {
		format = "\"got %d\", "
	}
	name, variable := c.function(), c.pick(canaryNouns)+"Of"
	s := drawSum(c.namer)
	c.must(name, fails, s.result)
	want := s.result
	if fails {
		want += c.between(1, 900)
	}
	return fmt.Sprintf("func %s(t *testing.T) {\n\t%s := %s\n\tif %s != %d {\n\t\tt.%s(%s%s)\n\t}\n}\n",
		name, variable, s.code, variable, want, method, format, variable)
}

// table is a function with two subtests, of which one may fail.
func (c *goCode) table(fails bool) string {
	name, factor, rest := c.function(), c.between(20011, 99730), c.between(11, 997)
	good, bad := c.between(103, 500), c.between(501, 990)
	result := bad*factor + rest
	limit := result + 1
	if fails {
		limit = result - c.between(1, 900)
	}
	c.must(name, fails, result)
	c.must(fmt.Sprintf("%s/%d", name, good), false, 0)
	c.must(fmt.Sprintf("%s/%d", name, bad), fails, result)
	return fmt.Sprintf("func %s(t *testing.T) {\n\tfor _, given := range []int{%d, %d} {\n\t\tt.Run(strconv.Itoa(given), func(t *testing.T) {\n"+
		"\t\t\tif got := given*%d + %d; got >= %d {\n\t\t\t\tt.Errorf(\"got %%d\", got)\n\t\t\t}\n\t\t})\n\t}\n}\n",
		name, good, bad, factor, rest, limit)
}
