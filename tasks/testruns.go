package tasks

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"relabel"
	"relabel/gitdiff"
)

// testRunsTable says how SWE-bench's data sets without evaluation scripts test each version of their
// repositories: facts of swebench 4.1.0, which testdata/testruns.py reads.
//
//go:embed testruns.json
var testRunsTable []byte

// repoRuns is a repository of the table.
type repoRuns struct {
	Repo   string
	Parser string
	Files  bool // the files of the test patch follow the test command
	Runs   []testRun
}

// testRun is how some versions are tested.
type testRun struct {
	Versions      []string
	Before, Tests []string // commands before the tests, and the test commands
}

// testRuns is the table by the repository in lower case.
var testRuns = sync.OnceValue(func() map[string]repoRuns {
	var table []repoRuns
	if err := json.Unmarshal(testRunsTable, &table); err != nil {
		panic("the table of test commands is broken: " + err.Error())
	}
	of := map[string]repoRuns{}
	for _, r := range table {
		of[strings.ToLower(r.Repo)] = r
	}
	return of
})

// failOnly are repositories whose logs name only failed tests.
var failOnly = []string{"chartjs/chart.js", "processing/p5.js", "markedjs/marked", "bpmn-io/bpmn-js", "openlayers/openlayers", "eslint/eslint"}

// readTestRun reads how SWE-bench tests the version of a line that has no evaluation script. Without
// a known repository or a version, the verifier decides by the repository.
func (l *taskLine) readTestRun(t *relabel.Task) {
	repo := strings.ToLower(l.quietText("repo"))
	if slices.Contains(failOnly, repo) {
		l.refuse("repo", "%q is not supported: its logs name only failed tests, so a test that is absent would count as passed", repo)
		return
	}
	of, known := testRuns()[repo]
	version := l.version()
	if !known || of.Files && version == "" {
		return
	}
	l.used["version"] = true
	at := slices.IndexFunc(of.Runs, func(r testRun) bool { return slices.Contains(r.Versions, version) })
	if at < 0 {
		l.refuse("version", "%q of %s has no known test command: add test_cmd and log_parser", version, of.Repo)
		return
	}
	run := of.Runs[at]
	if t.LogParser == "" {
		t.LogParser = l.parser(of.Parser)
	}
	tests := strings.Join(run.Tests, "\n")
	switch {
	case of.Files:
		tests = onTestFiles(tests, directives(repo, testFiles(t.TestPatch)))
	case repo == "automattic/wp-calypso":
		tests = strings.Join(calypsoTests(t.TestPatch, version), "\n")
	}
	before := slices.Concat([]string{"set -x"}, run.Before)
	if of.Files {
		before = slices.Concat([]string{"set -x", offline}, run.Before)
	}
	t.TestCmd, t.EvalScript = tests, makeEvalScript(before, tests)
}

// directives are test files in the form that a repository's runner takes.
func directives(repo string, files []string) []string {
	if repo != "django/django" {
		return files
	}
	var labels []string
	for _, f := range files {
		labels = append(labels, strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(f, ".py"), "tests/"), "/", "."))
	}
	return labels
}

// Versions of Calypso whose tests call Jest with a configuration of each package.
var (
	calypsoInJS = []string{"10.10.0", "10.12.0", "10.13.0", "10.14.0", "10.15.2", "10.16.3"}
	calypsoJSON = []string{"6.11.5", "8.9.1", "8.9.3", "8.9.4", "8.11.0", "8.11.2", "10.4.1", "10.5.0", "10.6.0", "10.9.0"}
)

// calypsoTests are the commands for the files of a test patch of Calypso. A snapshot stands for the
// folder of its test.
func calypsoTests(testPatch, version string) []string {
	changes, err := gitdiff.Parse(testPatch)
	if err != nil {
		return nil // checkPatch reports it
	}
	var commands []string
	for _, c := range changes {
		file := c.New
		if file == "" {
			continue
		}
		if folder, _, ok := strings.Cut(file, "/__snapshots__/"); ok && strings.HasSuffix(file, ".js.snap") {
			file = folder
		}
		kind, _, _ := strings.Cut(file, "/")
		switch {
		case strings.HasPrefix(file, "test/e2e"):
			commands = append(commands, "cd test/e2e", "NODE_CONFIG_ENV=test npm run test "+shellQuote(file), "cd ../..")
		case kind != "client" && kind != "packages":
		case slices.Contains(calypsoInJS, version):
			commands = append(commands, "./node_modules/.bin/jest --verbose -c=test/"+kind+"/jest.config.js "+shellQuote(file))
		case slices.Contains(calypsoJSON, version):
			commands = append(commands, "./node_modules/.bin/jest --verbose -c=test/"+kind+"/jest.config.json "+shellQuote(file))
		default:
			commands = append(commands, "npm run test-"+kind+" --verbose "+shellQuote(file))
		}
	}
	return commands
}
