package testcmd

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// NodeParsers are the log parsers of runners on Node.js.
var NodeParsers = map[string]bool{"jest": true, "vitest": true}

// NodeReportCommand returns the command with which Jest or Vitest writes a report at file beside
// its log. ok is false where the command cannot be made to: it must end with one call of the
// runner, or of a script of package.json that does, and name no report of its own. read reads a
// file of the repository.
func NodeReportCommand(command, file string, read func(string) ([]byte, bool)) (reporting string, ok bool) {
	for _, runner := range []string{"jest", "vitest"} {
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
	for _, runner := range []string{"jest", "vitest"} {
		inner, found := FindCall(script, callsNode(runner))
		if found && inner.Alone && nodeReports(runner, command+" "+script) {
			return call.With(append(separator, nodeReportArguments(runner, file)...)...), true
		}
	}
	return "", false
}

// nodeReports reports whether a runner that is called with these options can be asked for a
// report. Vitest forgets its usual log where it is asked for another one, so that the log must
// be asked for by name.
func nodeReports(runner, options string) bool {
	for _, own := range []string{"json", "outputFile", "--reporters", "watch"} {
		if strings.Contains(options, own) {
			return false
		}
	}
	return runner == "jest" || strings.Contains(options, "--reporter")
}

// nodeReportArguments have a runner write its report to a file.
func nodeReportArguments(runner, file string) []string {
	if runner == "vitest" {
		return []string{"--reporter=json", "--outputFile.json=" + file}
	}
	return []string{"--json", "--outputFile=" + file}
}

// callsNode finds the program of a runner.
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

// nodeScript returns the script that a package manager runs, and what must stand before
// further arguments of the script.
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

// NodeTestName matches the paths of files with tests in JavaScript and TypeScript.
var NodeTestName = regexp.MustCompile(`\.(test|spec)\.[cm]?[jt]sx?$|(^|/)__tests__/.*\.[cm]?[jt]sx?$`)
