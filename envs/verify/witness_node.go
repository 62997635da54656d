package verify

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"

	"relabel"
	"relabel/envs"
)

// reportKey is the key of the report of Jest and Vitest: where the runs of a task's gold patch
// write none, or one that differs from their logs, it is left out (see canaryTest.key).
const reportKey = "report"

// askNode returns the command with which Jest or Vitest writes a report beside its log, and the
// report's path; without one, the command as it is and "".
func (s *stage) askNode(ctx context.Context, command, parserName string) (file, asking string) {
	if !nodeParsers[shortParser(parserName)] || s.bare || s.left[reportKey] {
		return "", command
	}
	file = "/tmp/relabel-" + s.nonce + ".json"
	if asking, ok := nodeReportCommand(command, file, s.garden(ctx, command, nil).read); ok {
		return file, asking
	}
	return "", command
}

// nodeReportCommand returns the command with which Jest or Vitest writes a report at file beside
// its log. ok is false where the command cannot be made to: it must end with one call of the
// runner, or of a script of package.json that does, and name no report of its own. read reads a
// file of the repository.
func nodeReportCommand(command, file string, read func(string) ([]byte, bool)) (reporting string, ok bool) {
	for _, runner := range []string{"jest", "vitest"} {
		call, found := findCall(command, callsNode(runner))
		if found && call.alone && nodeReports(runner, command) {
			return call.with(nodeReportArguments(runner, file)...), true
		}
	}
	call, found := findCall(command, callsNodeScript)
	if !found || !call.alone {
		return "", false
	}
	name, separator := call.nodeScript()
	content, _ := read(path.Join(call.folder(), "package.json"))
	var manifest struct{ Scripts map[string]string }
	if json.Unmarshal(content, &manifest) != nil {
		return "", false
	}
	script := manifest.Scripts[name]
	for _, runner := range []string{"jest", "vitest"} {
		inner, found := findCall(script, callsNode(runner))
		if found && inner.alone && nodeReports(runner, command+" "+script) {
			return call.with(append(separator, nodeReportArguments(runner, file)...)...), true
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
func callsNode(runner string) func(words []word, at int) bool {
	return func(words []word, at int) bool {
		switch path.Base(words[at].text) {
		case runner, runner + ".js", runner + ".mjs":
			return at == 0 || (words[at-1].text != "-c" && words[at-1].text != "--config")
		}
		return false
	}
}

// callsNodeScript reports whether a word is a package manager that runs a script.
func callsNodeScript(words []word, at int) bool {
	switch path.Base(words[at].text) {
	case "npm", "yarn", "pnpm":
		return at+1 < len(words) && words[at+1].command == words[at].command
	}
	return false
}

// nodeScript returns the script that a package manager runs, and what must stand before
// further arguments of the script.
func (c runnerCall) nodeScript() (name string, separator []string) {
	separated := false
	for _, w := range c.args {
		switch {
		case w.text == "--":
			separated = true
		case strings.HasPrefix(w.text, "-") || name != "" || w.text == "run" || w.text == "run-script":
		default:
			name = w.text
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

// nodeReport is what a report of Jest or Vitest says of each test, by each of its names: the
// title, that with the titles of its groups, and that with its file.
type nodeReport struct {
	clean   map[string]bool            // passed, and nothing else
	stained map[string]bool            // failed at least once
	titles  map[string]map[string]bool // by file, relative to the repository
}

// readNodeReport reads the report at file. It is nil where the container's failure is why it
// cannot be read. One that is absent, broken or beyond the bounds bears nothing out.
func (s *stage) readNodeReport(ctx context.Context, file string) *nodeReport {
	data, size, err := s.sandbox.ReadFile(ctx, file, maxReport)
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, envs.ErrNotRegular)
	switch {
	case absent || (err == nil && size > maxReport):
		return &nodeReport{}
	case err != nil:
		return nil
	}
	return parseNodeReport(data, s.task.Workdir)
}

// parseNodeReport reads a report. One that is broken or has too many tests bears nothing out.
func parseNodeReport(data []byte, workdir string) *nodeReport {
	var content struct {
		TestResults []struct {
			Name             string
			AssertionResults []struct {
				AncestorTitles []string
				Title, Status  string
			}
		}
	}
	if json.Unmarshal(data, &content) != nil {
		return &nodeReport{}
	}
	r := &nodeReport{clean: map[string]bool{}, stained: map[string]bool{}, titles: map[string]map[string]bool{}}
	cases := 0
	for _, f := range content.TestResults {
		file := strings.TrimPrefix(f.Name, path.Clean(workdir)+"/")
		r.titles[file] = map[string]bool{}
		for _, t := range f.AssertionResults {
			if cases++; cases > maxReportCases {
				return &nodeReport{}
			}
			r.titles[file][t.Title] = true
			r.add(t.Status, t.Title, strings.Join(append(t.AncestorTitles, t.Title), ">"), strings.Join(append(append([]string{file}, t.AncestorTitles...), t.Title), ">"))
		}
	}
	for name := range r.stained {
		delete(r.clean, name)
	}
	return r
}

// add notes a test under its names.
func (r *nodeReport) add(status string, names ...string) {
	for _, name := range names {
		switch status {
		case "passed":
			r.clean[nodeName(name)] = true
		case "failed":
			r.stained[nodeName(name)] = true
		}
	}
}

// nodeName writes the names of the log and of the report so that they come out the same.
// Vitest's report has an empty group around all tests of a file.
func nodeName(name string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.Map(printable, name), ">>", ">"), ">")
}

// miss says where the report differs from the log, in a test of the task that passed or in a
// canary; ok is false where it does not.
func (r *nodeReport) miss(task relabel.Task, o outcomes, planted *planting) (m miss, ok bool) {
	for _, list := range [][]string{task.FailToPass, task.PassToPass} {
		for _, id := range list {
			if o.of(id).Passed() && !r.clean[nodeName(id)] {
				return miss{reportKey, "the log has " + id + " as passed, and the report of the tests does not"}, true
			}
		}
	}
	if planted == nil {
		return miss{}, false
	}
	for _, c := range planted.canaries {
		where := r.stained
		if c.status.Passed() {
			where = r.clean
		}
		if o.ending(c.name) == c.status && !where[nodeName(c.name)] {
			return miss{reportKey, "the log has the canary " + c.name + " as " + string(c.status) + ", and the report of the tests does not"}, true
		}
	}
	return miss{}, false
}
