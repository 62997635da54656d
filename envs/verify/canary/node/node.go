// Package node writes canaries for Jest and Vitest.
package node

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/envs/verify/canary"
	"relabel/envs/verify/testcmd"
	"relabel/envs/verify/tree"
)

// Canaries are canaries for Jest and Vitest. Each test file has its own globals and modules, so
// they are at the end of the task's test files, where they share these with the task's tests.
type Canaries struct{}

// maxNodeFiles is how many test files get canaries.
const maxNodeFiles = 20

var (
	nodeTestCall = regexp.MustCompile(`(?m)^\s*(test|it)(?:\.\w+)*(?:\.each\b.*)?[(\x60]`)
	nodeExpect   = regexp.MustCompile(`\bexpect\(`)
	// nodeChooses matches options that select tests by name or end the run at a failure.
	nodeChooses = regexp.MustCompile(`(^|\s)(-t|--testNamePattern|-b|--bail|--onlyFailures|-f)\b`)
)

// nodeRunners are the programs that end with exit code 1 if a test failed.
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

// nodeFailure is the exit code of a command if a test fails; 0 if its last call is not of a runner.
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

// nodeTestFiles returns, sorted, the test files of the test patch and those that ids such as
// "test/add.test.js > adds" name, otherwise those that contain titles of FAIL_TO_PASS tests.
func nodeTestFiles(g canary.Garden) []string {
	files := g.PatchedTests(testcmd.NodeTestName.MatchString)
	for _, id := range slices.Concat(g.Task.FailToPass, g.Task.PassToPass) {
		if file, _, ok := strings.Cut(id, " > "); ok && testcmd.NodeTestName.MatchString(file) && !tree.UnsafePath(file) {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		isTest := func(file string) bool {
			return testcmd.NodeTestName.MatchString(file) && !strings.Contains("/"+file, "/node_modules/")
		}
		var titles []string // without those of the groups around the tests
		for _, id := range g.Task.FailToPass {
			titles = append(titles, id[strings.LastIndex(" > "+id, " > "):])
		}
		files = g.Holding(isTest, titles)
	}
	slices.Sort(files)
	return slices.Compact(files)
}
