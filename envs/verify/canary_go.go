package verify

import (
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"relabel"
)

// goCanaries are canaries for go test: one file in each package whose tests the test patch
// changes or the task's ids name. The package's own test binary runs them.
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
	for _, file := range goTestFiles(g) {
		if found && !call.selectsGo(path.Dir(file)) {
			continue
		}
		if planted, ok := c.file(g, file); ok {
			result.files = append(result.files, planted)
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

// goTestFiles returns one test file of each package that the task names, sorted: those of the
// test patch, or else those that hold its FAIL_TO_PASS tests.
func goTestFiles(g garden) []string {
	byFolder := map[string]string{}
	for _, f := range patchFiles(g.task.TestPatch) {
		if !f.deleted && strings.HasSuffix(f.path, "_test.go") && byFolder[path.Dir(f.path)] == "" {
			byFolder[path.Dir(f.path)] = f.path
		}
	}
	if len(byFolder) == 0 {
		isTest := func(file string) bool { return strings.HasSuffix(file, "_test.go") }
		for _, file := range g.holding(isTest, goFunctions(g.task.FailToPass)) {
			byFolder[path.Dir(file)] = file
		}
	}
	var sorted []string
	for _, file := range byFolder {
		sorted = append(sorted, file)
	}
	sort.Strings(sorted)
	return sorted
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
}

// file is a file with canaries beside a test file, in its package.
func (c *goCode) file(g garden, neighbour string) (plantedFile, bool) {
	content, ok := g.read(neighbour)
	clause := goPackageClause.FindSubmatch(content)
	if !ok || clause == nil {
		return plantedFile{}, false
	}
	name := path.Join(path.Dir(neighbour), c.snake()+"_test.go")
	if g.has(name) {
		return plantedFile{}, false
	}
	code := []string{c.plain("Errorf", true), c.plain("Fatalf", true), c.table(c.random.IntN(2) == 0), c.plain("Errorf", false)}
	c.random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
	head := fmt.Sprintf("package %s\n\nimport (\n\t\"strconv\"\n\t\"testing\"\n)\n\n", clause[1])
	return plantedFile{path: name, content: head + strings.Join(code, "\n")}, true
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
	name, variable := c.function(), c.pick(canaryNouns)+"Of"
	s := drawSum(c.namer)
	c.must(name, fails, s.result)
	want := s.result
	if fails {
		want += c.between(1, 900)
	}
	return fmt.Sprintf("func %s(t *testing.T) {\n\t%s := %s\n\tif %s != %d {\n\t\tt.%s(\"got %%d\", %s)\n\t}\n}\n",
		name, variable, s.code, variable, want, method, variable)
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
