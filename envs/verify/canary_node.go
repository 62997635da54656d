package verify

import (
	"path"
	"regexp"
	"sort"
	"strings"
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
	nodeTestCall = regexp.MustCompile(`(?m)^\s*(test|it)(?:\.\w+)*(?:\.each\b.*)?[(\x60]`)
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
	c := nodeCode{namer: newNamer(g.random), left: g.left}
	result := planting{command: g.command, failure: nodeFailure(g.command), stops: true}
	files := nodeTestFiles(g)
	for _, file := range files[:min(len(files), maxNodeFiles)] {
		result.files = append(result.files, c.files(g, file)...)
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
