package verify

import (
	"fmt"
	"path"
	"regexp"
	"sort"
	"strings"

	"relabel"
)

// nodeCanaries are canaries for Jest and Vitest. Each test file has globals and modules of
// its own, so they are written at the end of the task's test files, where they share these
// with the task's tests.
type nodeCanaries struct{}

func init() {
	canaryMakers["jest"] = nodeCanaries{}
	canaryMakers["vitest"] = nodeCanaries{}
}

// maxNodeFiles is how many test files get canaries.
const maxNodeFiles = 20

var (
	nodeTestName = regexp.MustCompile(`\.(test|spec)\.[cm]?[jt]sx?$|(^|/)__tests__/.*\.[cm]?[jt]sx?$`)
	nodeTestCall = regexp.MustCompile(`(?m)^\s*(test|it)(?:\.\w+)*(?:\.each\b.*)?\(`)
	nodeExpect   = regexp.MustCompile(`\bexpect\(`)
	// nodeChooses finds options that choose tests by name or end the run at a failure.
	nodeChooses = regexp.MustCompile(`(^|\s)(-t|--testNamePattern|-b|--bail|--onlyFailures|-f)\b`)
)

// nodeRunners are the programs that end with exit code 1 where a test failed.
var nodeRunners = map[string]bool{"jest": true, "vitest": true, "npx": true, "npm": true, "yarn": true, "pnpm": true}

func (nodeCanaries) plant(g garden) (planting, bool) {
	if nodeChooses.MatchString(g.command) {
		return planting{}, false
	}
	c := nodeCode{namer: newNamer(g.random)}
	result := planting{command: g.command, failure: nodeFailure(g.command)}
	for _, file := range nodeTestFiles(g) {
		if planted, ok := c.file(g, file); ok && len(result.files) < maxNodeFiles {
			result.files = append(result.files, planted)
		}
	}
	result.canaries = c.canaries
	return result, len(result.files) > 0
}

// nodeFailure is the exit code of a command whose last call is one of a runner, if a test
// failed; 0 where that is not known.
func nodeFailure(command string) int {
	words := shellWords(command)
	if len(words) == 0 || strings.Contains(command, "|") {
		return 0
	}
	last := words[len(words)-1].command
	for _, w := range words {
		if w.command == last && nodeRunners[path.Base(w.text)] {
			return 1
		}
	}
	return 0
}

// nodeTestFiles returns the test files of the test patch, and those that ids such as
// "test/add.test.js > adds" name, sorted; without any, those that hold the titles of
// FAIL_TO_PASS tests.
func nodeTestFiles(g garden) []string {
	set := map[string]bool{}
	for _, f := range patchFiles(g.task.TestPatch) {
		if !f.deleted && nodeTestName.MatchString(f.path) {
			set[f.path] = true
		}
	}
	for _, list := range [][]string{g.task.FailToPass, g.task.PassToPass} {
		for _, id := range list {
			if file, _, ok := strings.Cut(id, " > "); ok && nodeTestName.MatchString(file) && !unsafePath(file) {
				set[file] = true
			}
		}
	}
	if len(set) == 0 {
		isTest := func(file string) bool {
			return nodeTestName.MatchString(file) && !strings.Contains("/"+file, "/node_modules/")
		}
		for _, file := range g.holding(isTest, nodeTitles(g.task.FailToPass)) {
			set[file] = true
		}
	}
	var sorted []string
	for file := range set {
		sorted = append(sorted, file)
	}
	sort.Strings(sorted)
	return sorted
}

// nodeTitles returns the titles of tests, without those of the groups around them.
func nodeTitles(ids []string) []string {
	var titles []string
	for _, id := range ids {
		parts := strings.Split(id, " > ")
		titles = append(titles, parts[len(parts)-1])
	}
	return titles
}

// nodeCode writes the JavaScript of canaries, which is TypeScript too.
type nodeCode struct {
	*namer
	canaries []canaryTest
}

// file is a test file with canaries at its end. They call what the file's own tests call.
func (c *nodeCode) file(g garden, name string) (plantedFile, bool) {
	content, ok := g.read(name)
	call := nodeTestCall.FindSubmatch(content)
	if !ok || call == nil {
		return plantedFile{}, false
	}
	var code []string
	for _, claim := range nodeClaims(content) {
		code = append(code, c.fails(string(call[1]), claim))
	}
	code = append(code, c.throws(string(call[1]), true), c.throws(string(call[1]), c.random.IntN(2) == 0), c.throws(string(call[1]), false))
	if nodeExpect.Match(content) {
		code = append(code, c.passes(string(call[1])), c.later(string(call[1]), c.random.IntN(2) == 0))
	}
	c.random.Shuffle(len(code), func(i, j int) { code[i], code[j] = code[j], code[i] })
	return plantedFile{path: name, content: string(content) + "\n" + strings.Join(code, "\n")}, true
}

// title draws the name of a canary and how it must end; a failed one shows
// proof, unless that is 0.
func (c *nodeCode) title(fails bool, proof int) string {
	test := canaryTest{name: strings.Join(c.phrase(), " "), status: relabel.TestPassed}
	if fails {
		test.status = relabel.TestFailed
	}
	if fails && proof != 0 {
		test.proof = fmt.Sprint(proof)
	}
	c.canaries = append(c.canaries, test)
	return test.name
}

// want is what a canary expects of a sum.
func (c *nodeCode) want(s sum, fails bool) int {
	if fails {
		return s.result + c.between(1, 900)
	}
	return s.result
}

// fails is a test that makes a claim which does not hold.
func (c *nodeCode) fails(call, claim string) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	proof := s.result
	if !strings.Contains(claim, "WRONG") {
		proof = 0 // what the runner shows of it depends on the runner
	}
	statement := strings.NewReplacer("VALUE", variable, "WRONG", fmt.Sprint(c.want(s, true))).Replace(claim)
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  %s;\n});\n", call, c.title(true, proof), variable, s.code, statement)
}

// passes is a test whose claims hold.
func (c *nodeCode) passes(call string) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  expect(%s).toBe(%d);\n  expect([%s]).toEqual([%d]);\n});\n",
		call, c.title(false, 0), variable, s.code, variable, s.result, variable, s.result)
}

// throws is a test that throws an error of its own.
func (c *nodeCode) throws(call string, fails bool) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	return fmt.Sprintf("%s('%s', () => {\n  const %s = %s;\n  if (%s !== %d) throw new Error('got ' + %s);\n});\n",
		call, c.title(fails, s.result), variable, s.code, variable, c.want(s, fails), variable)
}

// later is a test that awaits what it compares.
func (c *nodeCode) later(call string, fails bool) string {
	s, variable := drawSum(c.namer), c.pick(canaryNouns)+"Of"
	return fmt.Sprintf("%s('%s', async () => {\n  const %s = await Promise.resolve(%s);\n  expect(%s === %d ? 0 : %s).toEqual(0);\n});\n",
		call, c.title(fails, s.result), variable, s.code, variable, c.want(s, fails), variable)
}
