// Package node writes canaries for Jest and Vitest.
package node

import (
	"path"
	"regexp"
	"sort"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// Canaries are canaries for Jest and Vitest. Each test file has globals and modules of
// its own, so they are written at the end of the task's test files, where they share these
// with the task's tests.
type Canaries struct{}

// maxNodeFiles is how many test files get canaries.
const maxNodeFiles = 20

var (
	nodeTestCall = regexp.MustCompile(`(?m)^\s*(test|it)(?:\.\w+)*(?:\.each\b.*)?[(\x60]`)
	nodeExpect   = regexp.MustCompile(`\bexpect\(`)
	// nodeChooses finds options that choose tests by name or end the run at a failure.
	nodeChooses = regexp.MustCompile(`(^|\s)(-t|--testNamePattern|-b|--bail|--onlyFailures|-f)\b`)
)

// nodeRunners are the programs that end with exit code 1 where a test failed.
var nodeRunners = map[string]bool{"jest": true, "vitest": true, "npx": true, "npm": true, "yarn": true, "pnpm": true}

// Plant writes the canaries of a run.
func (Canaries) Plant(g canary.Garden) (canary.Planting, bool) {
	if nodeChooses.MatchString(g.Command) {
		return canary.Planting{}, false
	}
	c := nodeCode{Namer: canary.NewNamer(g.Random), left: g.Left}
	result := canary.Planting{Command: g.Command, Failure: nodeFailure(g.Command), Stops: true}
	files := nodeTestFiles(g)
	for _, file := range files[:min(len(files), maxNodeFiles)] {
		result.Files = append(result.Files, c.files(g, file)...)
	}
	result.Canaries = c.canaries
	return result, len(result.Files) > 0
}

// nodeFailure is the exit code of a command whose last call is one of a runner, if a test
// failed; 0 where that is not known.
func nodeFailure(command string) int {
	words := testcmd.Words(command)
	if len(words) == 0 || strings.Contains(command, "|") {
		return 0
	}
	last := words[len(words)-1].Command
	for _, w := range words {
		if w.Command == last && nodeRunners[path.Base(w.Text)] {
			return 1
		}
	}
	return 0
}

// nodeTestFiles returns the test files of the test patch, and those that ids such as
// "test/add.test.js > adds" name, sorted; without any, those that hold the titles of
// FAIL_TO_PASS tests.
func nodeTestFiles(g canary.Garden) []string {
	set := map[string]bool{}
	for _, f := range tree.PatchFiles(g.Task.TestPatch) {
		if !f.Deleted && testcmd.NodeTestName.MatchString(f.Path) {
			set[f.Path] = true
		}
	}
	for _, list := range [][]string{g.Task.FailToPass, g.Task.PassToPass} {
		for _, id := range list {
			if file, _, ok := strings.Cut(id, " > "); ok && testcmd.NodeTestName.MatchString(file) && !tree.UnsafePath(file) {
				set[file] = true
			}
		}
	}
	if len(set) == 0 {
		isTest := func(file string) bool {
			return testcmd.NodeTestName.MatchString(file) && !strings.Contains("/"+file, "/node_modules/")
		}
		for _, file := range g.Holding(isTest, nodeTitles(g.Task.FailToPass)) {
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
