package testcmd

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"relabel/testlog"
)

// ReportsInJSON reports whether a parser reads logs of Jest or Vitest, which can write a report too.
func ReportsInJSON(parserName string) bool {
	runner := RunnerOf(parserName)
	return runner == testlog.Jest || runner == testlog.Vitest
}

// nodeRunners are the names of these runners.
var nodeRunners = []string{"jest", "vitest"}

// NodeReportCommand returns the command with which Jest or Vitest also writes a report at file. ok
// is false if the command does not end with one call of the runner, or of a script of package.json
// that does, or requests a report itself. read reads a file of the repository.
func NodeReportCommand(command, file string, read func(string) ([]byte, bool)) (reporting string, ok bool) {
	for _, runner := range nodeRunners {
		call, found := FindCall(command, callsNode(runner))
		if found && call.Alone && nodeReports(runner, command) {
			return call.With(nodeReportArguments(runner, file)...), true
		}
	}
	call, found := FindCall(command, callsNodeScript)
	if !found || !call.Alone {
		return "", false
	}
	name, separator := call.nodeScript()
	content, _ := read(path.Join(call.Folder(), "package.json"))
	var manifest struct{ Scripts map[string]string }
	if json.Unmarshal(content, &manifest) != nil {
		return "", false
	}
	script := manifest.Scripts[name]
	for _, runner := range nodeRunners {
		inner, found := FindCall(script, callsNode(runner))
		if found && inner.Alone && nodeReports(runner, command+" "+script) {
			return call.With(append(separator, nodeReportArguments(runner, file)...)...), true
		}
	}
	return "", false
}

// nodeReports reports whether a runner with these options can write a report. Vitest needs a
// --reporter for its log, because it writes no log if only a report is requested.
func nodeReports(runner, options string) bool {
	contains := func(option string) bool { return strings.Contains(options, option) }
	own := slices.ContainsFunc([]string{"json", "outputFile", "--reporters", "watch"}, contains)
	return !own && (runner == "jest" || contains("--reporter"))
}

// nodeReportArguments are the arguments with which a runner writes its report to a file.
func nodeReportArguments(runner, file string) []string {
	if runner == "vitest" {
		return []string{"--reporter=json", "--outputFile.json=" + file}
	}
	return []string{"--json", "--outputFile=" + file}
}

// callsNode returns a function that reports whether a word is a runner.
func callsNode(runner string) func(words []Word, at int) bool {
	return func(words []Word, at int) bool {
		switch path.Base(words[at].Text) {
		case runner, runner + ".js", runner + ".mjs":
			return at == 0 || (words[at-1].Text != "-c" && words[at-1].Text != "--config")
		}
		return false
	}
}

// callsNodeScript reports whether a word is a package manager that runs a script.
func callsNodeScript(words []Word, at int) bool {
	switch path.Base(words[at].Text) {
	case "npm", "yarn", "pnpm":
		return at+1 < len(words) && words[at+1].Command == words[at].Command
	}
	return false
}

// nodeScript returns the script that a package manager runs, and the separator before further
// arguments of the script.
func (c Call) nodeScript() (name string, separator []string) {
	separated := false
	for _, w := range c.Args {
		switch {
		case w.Text == "--":
			separated = true
		case strings.HasPrefix(w.Text, "-") || name != "" || w.Text == "run" || w.Text == "run-script":
		default:
			name = w.Text
		}
	}
	if name == "t" {
		name = "test"
	}
	if path.Base(c.name) == "npm" && !separated {
		separator = []string{"--"}
	}
	return name, separator
}

// NodeTestName matches the paths of test files in JavaScript and TypeScript.
var NodeTestName = regexp.MustCompile(`\.(test|spec)\.[cm]?[jt]sx?$|(^|/)__tests__/.*\.[cm]?[jt]sx?$`)
